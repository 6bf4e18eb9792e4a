//! What to do about an error, in the words of the command line: [`Remedy`] → a sentence with commands and flags.

use goldilocks::base::Remedy;

/// The sentence of help for a remedy, with the flags of the program.
#[expect(clippy::too_many_lines, reason = "one arm per remedy")]
pub fn worded(remedy: &Remedy) -> String {
    match remedy {
        Remedy::BuildQuestions => {
            "`goldilocks build -o DIR` makes a question set, `goldilocks fetch cbt` gets the released one".into()
        }
        Remedy::BuildInShards => {
            "`goldilocks plan BOOKS -o SET` plans it in shards, `goldilocks build --plan SET` builds them".into()
        }
        Remedy::BuildMissingShards { folder } => {
            format!("`goldilocks build --plan {}` builds the shards that are missing", folder.display())
        }
        Remedy::MergeShards { folder } => format!("`goldilocks merge {}` completes it", folder.display()),
        Remedy::Overwrite => "choose another `-o`, or add `--force` to replace it".into(),
        Remedy::ChooseNewFolder => "choose another `-o`".into(),
        Remedy::ChangeSelection => "`--split` and `--class` select the questions".into(),
        Remedy::SelectAnswered => {
            "check that it is the right set; `--split` and `--class` select what was answered of it".into()
        }
        Remedy::SelectCommon => {
            "answer the same set and splits with both models, or select what both answered with `--split` and `--class`; both files need `split`".into()
        }
        Remedy::MatchToQuestions => {
            "lines need an `answer`; `--questions SET` takes it from the set".into()
        }
        Remedy::ImportArpa => "`goldilocks lm import` makes a model from an ARPA file".into(),
        Remedy::EstimateOnDisk => {
            "`goldilocks lm estimate` takes texts of any length: it sorts on disk".into()
        }
        Remedy::AllowMoreMemory => "allow more with `--memory`".into(),
        Remedy::ChooseTemporaryFolder => {
            "make room, or choose another folder with `--temporary`".into()
        }
        Remedy::RebuildLanguageModel => {
            "rebuild it: `goldilocks train` trains the model again, `goldilocks lm import` imports its ARPA file".into()
        }
        Remedy::SkipMalformed { advice } => {
            format!("{advice}; `--skip-bad` skips malformed questions and reports how many")
        }
        Remedy::InspectBook { path } => format!(
            "check that this is the whole book: `goldilocks tag {} | less` shows how it was split; `build --skip-bad` leaves it out",
            path.display()
        ),
        Remedy::InspectBooks => {
            "check that these are whole books, as .txt, .html or .epub: `goldilocks tag BOOK` shows one".into()
        }
        Remedy::Train { model, folder } => {
            let model = model.as_deref().unwrap_or("MODEL");
            let folder = folder.as_ref().map_or("DIR".into(), |path| path.display().to_string());
            format!("make it with `goldilocks train {model} SET -o {folder}`")
        }
        Remedy::ListModels { meant } => {
            let meant = meant.as_ref().map_or(String::new(), |name| format!("did you mean `{name}`? "));
            let n = goldilocks::models::MODELS.len();
            format!("{meant}`goldilocks models` lists all {n}")
        }
        Remedy::ListSettings { model } => format!("`goldilocks models {model}` lists its settings"),
        Remedy::WriteSettingAs { example } => format!("for example `--set {example}`"),
        Remedy::Set { key, value } => format!("`--set {key}={value}`"),
        Remedy::MakePredictions => {
            "expected a file of predictions: `goldilocks answer MODEL SET -o FILE` makes one".into()
        }
        Remedy::ReplaceBook { .. } => format!("{remedy}; `build --skip-bad` skips such books"),
        Remedy::TrainTagger => "`goldilocks train-tagger` makes the weights again".into(),
        Remedy::ChooseOtherPort => "choose another `--port`, or `--port 0` for any that is free".into(),
        Remedy::DrawFewer { n } => format!("draw fewer of each class with `--sample {n}`"),
        Remedy::CollectAnswers => {
            "`goldilocks serve --study FILE` prints the address to give to annotators".into()
        }
        Remedy::InstallCuda => {
            "`--device cpu` needs no GPU; a GPU needs NVIDIA's driver and the CUDA libraries cuBLAS and NVRTC on the library path (LD_LIBRARY_PATH)".into()
        }
        Remedy::UseLessMemory { is_gpu } => {
            let other = if *is_gpu { "`--device cpu`" } else { "fewer `--threads`" };
            format!("{other}; a training needs less memory with smaller `streams` and `steps`, or `batch` and `run`, or `dim`")
        }
        Remedy::ResumeOnCpu => {
            "run the same command again: training resumes from its last checkpoint; `--device cpu` does without the GPU".into()
        }
        Remedy::LeaveOutLeaks => "`--skip-leaks` leaves such books out and counts them".into(),
        Remedy::AskMoreSentences => "`--leads N` asks about more sentences".into(),
        Remedy::AcceptOtherCode { may_retrain: false } => {
            "`--any-version` accepts results of other versions".into()
        }
        Remedy::AcceptOtherCode { may_retrain: true } => {
            "`--any-version` accepts models of other versions; to train it again, remove the folder".into()
        }
        Remedy::TagBooks => "`goldilocks tag BOOK > FILE` writes a book in the right form".into(),
        Remedy::MakeLanguageModel => {
            "`goldilocks train kneser-ney`, `lm estimate` and `lm import` make models that have one".into()
        }
        Remedy::ReadExperiments => {
            "a row is a table: `[[rows]]`, then `model = \"word-distance\"`; `goldilocks reproduce --show` prints all of table-2".into()
        }
        // What has nothing to do with the program is worded by the libraries.
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use clap::{Command, CommandFactory};
    use goldilocks::base::Remedy;

    use super::*;
    use crate::cli::Cli;

    /// The command that words lead to, with what follows its name; none if the first is not a command.
    fn command_of<'w>(words: &'w [&'w str]) -> Option<(Command, &'w [&'w str])> {
        let mut command = Cli::command();
        command.build();
        let mut rest = words;
        while let Some(found) = rest.first().and_then(|name| command.find_subcommand(name)) {
            command = found.clone();
            rest = &rest[1..];
        }
        (rest.len() < words.len()).then_some((command, rest))
    }

    fn has_flag(command: &Command, flag: &str) -> bool {
        command.get_arguments().any(|argument| match flag.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => argument.get_short().map(String::from).as_deref() == flag.strip_prefix('-'),
        })
    }

    fn any_command_has(flag: &str) -> bool {
        fn within(command: &Command, flag: &str) -> bool {
            has_flag(command, flag) || command.get_subcommands().any(|sub| within(sub, flag))
        }
        let mut command = Cli::command();
        command.build();
        within(&command, flag)
    }

    /// What is wrong with a command or flag that a text names: `goldilocks build -o DIR`, `build --skip-bad`, `--force`.
    fn wrong(text: &str) -> Option<String> {
        let words: Vec<&str> = text.split([' ', '=', '[', ']', '|', ',', ';']).collect();
        let is_named = words[0] == "goldilocks";
        let words = if is_named { &words[1..] } else { &words[..] };
        // What is piped into something else is not ours.
        let ours = words.iter().position(|word| word.is_empty()).unwrap_or(words.len());
        let words = &words[..ours];
        let is_flag = |word: &&&str| {
            word.starts_with('-') && word.trim_start_matches('-').starts_with(char::is_alphabetic)
        };
        match command_of(words) {
            Some((command, rest)) => {
                let mut flags = rest.iter().filter(is_flag);
                let unknown = flags.find(|flag| !has_flag(&command, flag) && **flag != "--help");
                unknown.map(|flag| format!("`{text}`: `{}` has no `{flag}`", command.get_name()))
            }
            None if is_named && words.first().is_some_and(|word| !word.starts_with('-')) => {
                Some(format!("`{text}`: no such command"))
            }
            None => {
                let mut flags = words.iter().take(1).filter(is_flag);
                let unknown = flags.find(|flag| !any_command_has(flag))?;
                Some(format!("`{text}`: no command has `{unknown}`"))
            }
        }
    }

    fn back_ticked(text: &str) -> impl Iterator<Item = &str> {
        text.split('`').skip(1).step_by(2)
    }

    /// All files below a folder that end so.
    fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(files(&path, ending));
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
        found.sort();
        found
    }

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn every_command_and_flag_that_a_remedy_names_exists() {
        for remedy in Remedy::examples() {
            let text = worded(&remedy);
            let wrong: Vec<String> = back_ticked(&text).filter_map(wrong).collect();
            assert!(wrong.is_empty(), "{remedy:?}: {wrong:?}");
            // What a library can word by itself needs no flag.
            let is_general = matches!(remedy, Remedy::DidYouMean { .. });
            assert_eq!(text == remedy.to_string(), is_general, "{remedy:?}: {text}");
        }
        // The check itself can fail.
        assert!(wrong("goldilocks bild -o DIR").is_some() && wrong("build --skip-good").is_some());
        assert!(wrong("--forse").is_some() && wrong("goldilocks tag b.txt | less").is_none());
    }

    #[test]
    fn every_command_and_flag_that_the_program_prints_exists() {
        for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ".rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            let code = source.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines() {
                let wrong: Vec<String> = back_ticked(line).filter_map(wrong).collect();
                assert!(wrong.is_empty(), "{}: {wrong:?}", path.display());
            }
        }
    }

    #[test]
    fn every_command_and_flag_in_the_documents_exists() {
        let documents = files(&repository().join("docs"), ".md");
        let own =
            ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| repository().join(name));
        let mut n_commands = 0;
        for path in documents.into_iter().chain(own) {
            let text = std::fs::read_to_string(&path).unwrap();
            let in_blocks = text.lines().map(|line| line.trim_start_matches("$ "));
            let in_blocks = in_blocks.filter(|line| line.starts_with("goldilocks "));
            let in_blocks = in_blocks.map(|line| line.split("  ").next().unwrap_or_default());
            let in_lines = text.lines().flat_map(back_ticked);
            for command in in_blocks.chain(in_lines.filter(|text| text.starts_with("goldilocks ")))
            {
                n_commands += 1;
                assert_eq!(wrong(command), None, "{}", path.display());
            }
        }
        assert!(n_commands > 30, "only {n_commands} commands are documented");
    }
}
