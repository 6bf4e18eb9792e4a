//! [`Remedy`]: what can be done about an error, for programs to match on and for people to read.
//!
//! Libraries do not know which command or flag would do it: the command line words a remedy in its own terms, and
//! so does any other program.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

/// What can be done about an error. [`fmt::Display`] words it without flags or commands of any program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "a variant says what its fields are for")]
pub enum Remedy {
    /// Advice that needs nothing of any program.
    Advice(Cow<'static, str>),
    /// Build a question set, or get the released one.
    BuildQuestions,
    /// Plan the set in shards, which hold any amount of text.
    BuildInShards,
    /// Build the shards of a set that are missing.
    BuildMissingShards { folder: PathBuf },
    /// Merge the shards of a set.
    MergeShards { folder: PathBuf },
    /// Write elsewhere, or ask for the output to be replaced.
    Overwrite,
    /// Write into a new folder: this one holds files that are not ours and is never replaced.
    ChooseNewFolder,
    /// Select other splits or classes.
    ChangeSelection,
    /// Check that it is the right question set, or select the splits and the class that were answered.
    SelectAnswered,
    /// Answer the same questions with both models, or select what both answered.
    SelectCommon,
    /// Match the predictions to their question set, which fills in what their lines leave out.
    MatchToQuestions,
    /// Correct what is malformed, or leave it out and count it.
    SkipMalformed { advice: &'static str },
    /// Look at how a book was read and split, or leave it out.
    InspectBook { path: PathBuf },
    /// A name that is like the one that was given.
    DidYouMean { name: String },
    /// Train the model, or train it again.
    Train { model: Option<String>, folder: Option<PathBuf> },
    /// List all models, perhaps with the one that was meant.
    ListModels { meant: Option<String> },
    /// List the settings of a model.
    ListSettings { model: String },
    /// Write a setting as `KEY=VALUE`.
    WriteSettingAs { example: &'static str },
    /// Set something to another value.
    Set { key: &'static str, value: String },
    /// Answer questions with a model, which writes predictions.
    MakePredictions,
    /// Import an ARPA file as a language model.
    ImportArpa,
    /// Train the model that holds the language model again, or import its ARPA file.
    RebuildLanguageModel,
    /// Fetch a book again, perhaps as plain text, or leave it out.
    ReplaceBook { plain_text: bool },
    /// Train the tagger again, which writes its weights.
    TrainTagger,
    /// Listen on another port, or on any that is free.
    ChooseOtherPort,
    /// Draw at most `n` questions of each class.
    DrawFewer { n: usize },
    /// Serve the study, so that people can answer it.
    CollectAnswers,
    /// Check that books are whole; look at how one is read and split.
    InspectBooks,
    /// Ask about more sentences of each news article.
    AskMoreSentences,
    /// Look at the experiments of the paper, to see how one is written.
    ReadExperiments,
    /// Accept results that another version of the code made; or, for a model, remove it to train it again.
    AcceptOtherCode { may_retrain: bool },
    /// Write books in the form of tagged books.
    TagBooks,
    /// Make a model that has a language model in it.
    MakeLanguageModel,
    /// Estimate the language model on disk, within a limit of memory: that holds any amount of text.
    EstimateOnDisk,
    /// Give the estimation of a language model more memory.
    AllowMoreMemory,
    /// Put temporary files elsewhere.
    ChooseTemporaryFolder,

    /// Leave out the further books that share text with held-out ones.
    LeaveOutLeaks,
    /// Compute on the CPU, or install what a GPU needs.
    InstallCuda,
    /// Use less memory, or the CPU in place of the GPU that has too little.
    UseLessMemory { is_gpu: bool },
    /// Resume the training from its last checkpoint, or compute on the CPU.
    ResumeOnCpu,
}

impl Remedy {
    /// Advice that needs nothing of any program.
    pub fn advice(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Advice(text.into())
    }

    /// One remedy of each kind but [`Self::Advice`], for tests of those who word them.
    #[doc(hidden)]
    pub fn examples() -> Vec<Self> {
        let (name, model) = ("word-distance", Some("word-distance".to_owned()));
        vec![
            Self::BuildQuestions,
            Self::BuildInShards,
            Self::BuildMissingShards { folder: "set".into() },
            Self::MergeShards { folder: "set".into() },
            Self::Overwrite,
            Self::ChooseNewFolder,
            Self::ChangeSelection,
            Self::SelectAnswered,
            Self::SelectCommon,
            Self::MatchToQuestions,
            Self::SkipMalformed { advice: "correct it" },
            Self::InspectBook { path: "bears.txt".into() },
            Self::DidYouMean { name: name.to_owned() },
            Self::Train { model: None, folder: None },
            Self::Train { model: model.clone(), folder: Some("model".into()) },
            Self::ListModels { meant: None },
            Self::ListModels { meant: model },
            Self::ListSettings { model: name.to_owned() },
            Self::WriteSettingAs { example: "max_penalty=5" },
            Self::Set { key: "learning_rate", value: "0.1".to_owned() },
            Self::MakePredictions,
            Self::ImportArpa,
            Self::RebuildLanguageModel,
            Self::ChooseOtherPort,
            Self::DrawFewer { n: 5 },
            Self::CollectAnswers,
            Self::InspectBooks,
            Self::AskMoreSentences,
            Self::ReadExperiments,
            Self::AcceptOtherCode { may_retrain: false },
            Self::AcceptOtherCode { may_retrain: true },
            Self::TagBooks,
            Self::MakeLanguageModel,
            Self::EstimateOnDisk,
            Self::AllowMoreMemory,
            Self::ChooseTemporaryFolder,
            Self::ReplaceBook { plain_text: true },
            Self::TrainTagger,
            Self::LeaveOutLeaks,
            Self::InstallCuda,
            Self::UseLessMemory { is_gpu: false },
            Self::UseLessMemory { is_gpu: true },
            Self::ResumeOnCpu,
        ]
    }
}

impl fmt::Display for Remedy {
    #[expect(clippy::too_many_lines, reason = "one sentence per variant")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Advice(text) => f.write_str(text),
            Self::BuildQuestions => f.write_str("build a question set, or get the released one"),
            Self::BuildInShards => f.write_str("build it in shards, which hold any amount of text"),
            Self::BuildMissingShards { .. } => f.write_str("build the shards that are missing"),
            Self::MergeShards { .. } => f.write_str("merge its shards"),
            Self::Overwrite => {
                f.write_str("choose another place, or ask for the output to be replaced")
            }
            Self::ChooseNewFolder => f.write_str("choose a new folder: this one is never replaced"),
            Self::ChangeSelection => f.write_str("select other splits or another class"),
            Self::SelectAnswered => f.write_str(
                "check that it is the right question set, or select the splits and the class that were answered",
            ),
            Self::SelectCommon => f.write_str(
                "answer the same set and splits with both models, or select what both answered; both files need `split`",
            ),
            Self::MatchToQuestions => f.write_str(
                "lines need an `answer`; matching them to their question set fills it in",
            ),
            Self::SkipMalformed { advice } => {
                write!(f, "{advice}; or ask for malformed input to be skipped and counted")
            }
            Self::InspectBook { path } => {
                write!(f, "check that {} is the whole book, or leave it out", path.display())
            }
            Self::DidYouMean { name } => write!(f, "did you mean `{name}`?"),
            Self::Train { model: Some(model), .. } => write!(f, "train `{model}` again"),
            Self::Train { model: None, .. } => f.write_str("train the model again"),
            Self::ListModels { meant: Some(name) } => write!(f, "did you mean `{name}`?"),
            Self::ListModels { meant: None } => f.write_str("choose one of the registered models"),
            Self::ListSettings { model } => write!(f, "choose one of the settings of `{model}`"),
            Self::WriteSettingAs { example } => write!(f, "for example `{example}`"),
            Self::Set { key, value } => write!(f, "set `{key}` to {value}"),
            Self::MakePredictions => {
                f.write_str("answer questions with a model to make predictions")
            }
            Self::ImportArpa => f.write_str("import an ARPA file to make a language model"),
            Self::RebuildLanguageModel => {
                f.write_str("rebuild it: train the model again, or import its ARPA file")
            }
            Self::ReplaceBook { plain_text: false } => {
                f.write_str("fetch the book again, or leave it out")
            }
            Self::ReplaceBook { plain_text: true } => {
                f.write_str("fetch the book again, use its plain text (.txt), or leave it out")
            }
            Self::TrainTagger => f.write_str("train the tagger again"),
            Self::InspectBooks => f.write_str("check that these are whole books, as .txt, .html or .epub"),
            Self::AskMoreSentences => f.write_str("ask about more sentences of each article"),
            Self::ReadExperiments => {
                f.write_str("the repository's experiments show how one is written")
            }
            Self::AcceptOtherCode { may_retrain: false } => {
                f.write_str("accept results of other versions")
            }
            Self::AcceptOtherCode { may_retrain: true } => {
                f.write_str("accept models of other versions, or remove the folder to train again")
            }
            Self::TagBooks => f.write_str("tag books to get files of the right form"),
            Self::MakeLanguageModel => {
                f.write_str("estimate or import a language model, or train a Kneser-Ney model")
            }
            Self::EstimateOnDisk => f.write_str("estimate it on disk, within a limit of memory"),
            Self::AllowMoreMemory => f.write_str("allow more memory"),
            Self::ChooseTemporaryFolder => {
                f.write_str("make room, or choose another folder for temporary files")
            }

            Self::ChooseOtherPort => f.write_str("choose another port, or any that is free"),
            Self::DrawFewer { n } => write!(f, "draw at most {n} questions of each class"),
            Self::CollectAnswers => f.write_str("serve the study and give its address to annotators"),
            Self::LeaveOutLeaks => f.write_str("leave these books out"),
            Self::InstallCuda => f.write_str(
                "compute on the CPU; a GPU needs NVIDIA's driver and the CUDA libraries cuBLAS and NVRTC on the \
                 library path",
            ),
            Self::UseLessMemory { is_gpu } => {
                let other = if *is_gpu { "compute on the CPU" } else { "use fewer threads" };
                write!(
                    f,
                    "{other}; a training needs less memory with smaller `streams` and `steps`, or `batch` and `run`, \
                     or `dim`"
                )
            }
            Self::ResumeOnCpu => f.write_str(
                "run it again: training resumes from its last checkpoint; use the CPU if the GPU does not come back",
            ),
        }
    }
}
