//! What to do about an error, in the words of the command line: [`Remedy`] → a sentence with commands and flags.

use goldilocks::base::Remedy;

/// Words a remedy.
pub fn worded(remedy: &Remedy) -> String {
    match remedy {
        Remedy::BuildQuestions => {
            "`goldilocks build -o DIR` makes a question set, `goldilocks fetch cbt` gets the released one".into()
        }
        Remedy::Overwrite => "choose another `-o`, or add `--force` to replace it".into(),
        Remedy::ChooseNewFolder => "choose another `-o`".into(),
        Remedy::ChangeSelection => "`--on` and `--class` select the questions".into(),
        Remedy::SkipMalformed => "`--skip-bad` skips malformed questions and reports how many".into(),
        Remedy::InspectBook { path } => format!(
            "is this the whole book? `goldilocks tag {} | less` shows how it was split; `build --skip-bad` leaves it out",
            path.display()
        ),
        Remedy::InspectBooks => {
            "are these whole books, as .txt or .epub? `goldilocks tag BOOK` shows one".into()
        }
        Remedy::Train { model, folder } => {
            let model = model.as_deref().unwrap_or("MODEL");
            let folder = folder.as_ref().map_or("MODELDIR".into(), |path| path.display().to_string());
            format!("make it with `goldilocks train {model} --data SET -o {folder}`")
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
            "expected a file of predictions: `goldilocks answer MODELDIR SET -o FILE` makes one".into()
        }
        Remedy::ImportArpa => "`goldilocks lm import` makes a model from an ARPA file".into(),
        Remedy::SelectAnswered => {
            "check that it is the right set; `--on` and `--class` select what was answered of it".into()
        }
        Remedy::SelectCommon => {
            "answer the same set and splits with both models, or select what both answered with `--on` and `--class`; both files need `split`".into()
        }
        Remedy::MatchToQuestions => {
            "lines need an `answer`; `--questions SET` takes it from the set".into()
        }
        Remedy::ReplaceBook { .. } => format!("{remedy}: `build --skip-bad` skips such books"),
        Remedy::TrainTagger => "`goldilocks train-tagger` makes the weights again".into(),
        Remedy::UseCpu => "`--device cpu` needs no GPU".into(),
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
        // What has nothing to do with the program is worded by the libraries.
        other => other.to_string(),
    }
}
