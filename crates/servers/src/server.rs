//! [`Server`]: the program at an address, and its model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Result, Transport};

/// The program that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `llama-server` of llama.cpp.
    LlamaServer,
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// Ollama.
    Ollama,
    /// Anthropic's API.
    Anthropic,
    /// Anything else with OpenAI's paths.
    OpenAiLike,
}

impl Kind {
    /// The name that people know it by, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::LlamaServer => "llama-server",
            Self::Vllm => "vLLM",
            Self::Sglang => "SGLang",
            Self::Ollama => "Ollama",
            Self::Anthropic => "Anthropic's API",
            Self::OpenAiLike => "a server with OpenAI's paths",
        }
    }
}

/// The program at an address, and its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Which program it is.
    pub kind: Kind,
    /// Its version, if the server reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The model as the server names it.
    pub model: String,
    /// What the server reports about the model's file: parameters, bytes, quantisation, root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The most tokens of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_context: Option<usize>,
    /// How many questions it answers at the same time, if it reports that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_slots: Option<usize>,
    /// SHA-256 of the chat template, if the server reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

impl Server {
    /// Finds out which program and model answer. `is_anthropic`: the address is that of Anthropic's API, which has no such request.
    ///
    /// # Errors
    /// If nobody answers, or the server has several models and none was named.
    pub fn identify(
        transport: &dyn Transport,
        name: Option<&str>,
        is_anthropic: bool,
    ) -> Result<Self> {
        let server = |kind, version: Option<String>, model: String| Self {
            kind,
            version,
            model,
            file: None,
            n_context: None,
            n_slots: None,
            template: None,
        };
        if is_anthropic {
            let model = name.ok_or(Error::SeveralModels { names: vec!["…".to_owned()] })?;
            return Ok(server(Kind::Anthropic, None, model.to_owned()));
        }
        if let Some(props) = transport.get("/props")?
            && let Some(build) = props["build_info"].as_str()
        {
            let listed = Models::read(transport)?;
            let alias = props["model_alias"].as_str().filter(|alias| !alias.is_empty());
            let model = name.or(alias).or(props["model_path"].as_str()).unwrap_or("?");
            // Where the file lies is not the model's name.
            let model = model.rsplit('/').next().unwrap_or(model);
            return Ok(Self {
                file: listed.meta(),
                n_context: count(&props["default_generation_settings"]["n_ctx"]),
                n_slots: count(&props["total_slots"]),
                template: props["chat_template"]
                    .as_str()
                    .map(|text| base::hash::sha256(text.as_bytes())),
                ..server(Kind::LlamaServer, Some(build.to_owned()), model.to_owned())
            });
        }
        if let Some(info) = transport.get("/model_info")?
            && let Some(path) = info["model_path"].as_str()
        {
            let version = transport
                .get("/server_info")?
                .and_then(|info| Some(info["version"].as_str()?.to_owned()));
            return Ok(server(Kind::Sglang, version, name.unwrap_or(path).to_owned()));
        }
        let version = |path: &str| {
            let found =
                transport.get(path)?.and_then(|value| Some(value["version"].as_str()?.to_owned()));
            Ok::<_, Error>(found)
        };
        let (kind, version) = if let Some(version) = version("/api/version")? {
            (Kind::Ollama, Some(version))
        } else if let Some(version) = version("/version")? {
            (Kind::Vllm, Some(version))
        } else {
            (Kind::OpenAiLike, None)
        };
        let listed = Models::read(transport)?;
        let model = listed.choose(name)?;
        Ok(Self { file: listed.root(), n_context: listed.length(), ..server(kind, version, model) })
    }
}

/// The answer of `/v1/models`.
struct Models(Vec<Value>);

impl Models {
    fn read(transport: &dyn Transport) -> Result<Self> {
        let answer = transport.get("/v1/models")?.unwrap_or_default();
        Ok(Self(answer["data"].as_array().cloned().unwrap_or_default()))
    }

    fn choose(&self, name: Option<&str>) -> Result<String> {
        if let Some(name) = name {
            return Ok(name.to_owned());
        }
        let names: Vec<String> =
            self.0.iter().filter_map(|model| Some(model["id"].as_str()?.to_owned())).collect();
        match &names[..] {
            [] => Err(Error::NoModel),
            [name] => Ok(name.clone()),
            _ => Err(Error::SeveralModels { names }),
        }
    }

    fn first(&self) -> &Value {
        self.0.first().unwrap_or(&Value::Null)
    }

    fn length(&self) -> Option<usize> {
        count(&self.first()["max_model_len"])
    }

    fn root(&self) -> Option<String> {
        self.first()["root"].as_str().map(str::to_owned)
    }

    /// llama-server: parameters, bytes and quantisation of the file.
    fn meta(&self) -> Option<String> {
        let meta = &self.first()["meta"];
        let (n_params, size) = (meta["n_params"].as_u64()?, meta["size"].as_u64()?);
        let kind = meta["ftype"].as_str().unwrap_or("?");
        Some(format!("{n_params} parameters, {size} bytes, {kind}"))
    }
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok())
}
