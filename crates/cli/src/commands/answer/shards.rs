//! `goldilocks answer MODEL SET -o FOLDER`, for a set in shards: a predictions file for each, one shard in memory at a
//! time.

use anyhow::Result;
use goldilocks::questions::Split;
use goldilocks::scale::{AnswerFolder, Shards};
use goldilocks::{AnswerFile, AnswerOptions, AnswerProvenance, Error, load_model};

use super::Options;
use crate::commands::{counted, print, shard_number};
use crate::failure::CliError;
use crate::model_argument::ModelArgument;
use crate::progress::Progress;

/// The shards to answer one by one: where one is named, or where a set in shards is answered into a folder.
pub fn find(options: &Options) -> Result<Option<Shards>> {
    let [set] = &options.sets[..] else {
        return refuse(options, "expected one set of which to answer a shard, found several");
    };
    if options.shard.is_none() && options.output.extension().is_some() {
        return Ok(None);
    }
    let found = if set.is_dir() { Shards::find(set)? } else { None };
    if found.is_none() {
        return refuse(options, "expected a set in shards");
    }
    let ModelArgument::Folder(_) = &options.model else {
        let message = "a server answers a set in shards file by file: name one of them as SET";
        return Err(setting("shard", message));
    };
    if options.sample.is_some() || options.selection.class.is_some() {
        let message = "of a shard all questions are answered: expected no --sample and no --class";
        return Err(setting("shard", message));
    }
    Ok(found)
}

fn refuse(options: &Options, message: &str) -> Result<Option<Shards>> {
    match options.shard {
        Some(_) => Err(setting("shard", message)),
        None => Ok(None),
    }
}

fn setting(what: &'static str, message: &str) -> anyhow::Error {
    CliError::Setting { what, message: message.to_owned() }.into()
}

/// Answers the shards that are not answered yet; without `--split`, those of the validation and test splits.
pub fn run(options: &Options, shards: &Shards, progress: &Progress) -> Result<()> {
    let numbers = match options.shard {
        Some(number) => {
            let number = shard_number("shard", number)?;
            shards.file(number)?;
            number..number + 1
        }
        None => 0..shards.files().len(),
    };
    let splits = match &options.selection.splits[..] {
        [] => &[Split::Valid, Split::Test],
        splits => splits,
    };
    let ModelArgument::Folder(folder) = &options.model else {
        return Err(setting("shard", "expected a model in a folder"));
    };
    let (model, manifest) = load_model(folder, options.device.device, progress)?;
    let answering = AnswerOptions {
        splits: Vec::new(),
        controls: options.controls(),
        seed: options.seed,
        sample: None,
    };
    let made_from = |questions| AnswerProvenance::new(&manifest.provenance, questions, &answering);
    let from = made_from(shards.identity().to_owned());
    let answers = AnswerFolder::open(&options.output, &from, options.force)?;
    for number in numbers {
        let shard = shards.file(number)?;
        let path = answers.file(shard);
        let name = path.display();
        if !splits.contains(&shard.split) {
            // A task of an array has nothing to do.
            if options.shard.is_some() && !progress.is_quiet() {
                print(format_args!("{name}: {} is not answered\n", shard.split.code()))?;
            }
            continue;
        }
        if path.exists() {
            progress.note(format_args!("{name}: there already"));
            continue;
        }
        let set = shards.open(number, &options.selection.options(), progress)?;
        let mut n = 0;
        if set.is_empty() {
            std::fs::write(&path, "").map_err(Error::io(&path))?;
        } else {
            let mut file = AnswerFile::open(&path, progress)?;
            file.answer(&model, &set, &answering, &made_from(set.fingerprint()))?;
            n = file.finish()?.len();
        }
        if !progress.is_quiet() {
            print(format_args!("{} answered in {name}\n", counted(n, "question")))?;
        }
    }
    Ok(())
}
