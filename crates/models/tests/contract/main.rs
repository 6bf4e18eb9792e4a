//! What every model must do, checked over the registry on the embedded tales: a new method is tested by being
//! listed. `cargo test -p goldilocks-models --test contract NAME` runs the checks of one method, or one check of all.

mod checks;
mod faults;
mod tales;

use std::process::ExitCode;
use std::sync::Arc;

use checks::{CHECKS, Subject};
use goldilocks_models::MODELS;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let of_method = |method| {
        let subject = Arc::new(Subject::new(method));
        CHECKS.iter().map(move |(name, check)| {
            let subject = subject.clone();
            Trial::test(format!("{}::{name}", method.name), move || {
                check(&subject).map_err(Failed::from)
            })
        })
    };
    let mut trials: Vec<Trial> = MODELS.iter().flat_map(of_method).collect();
    trials.extend(faults::trials());
    trials.push(Trial::test("registry::names_are_unique_and_a_slip_finds_the_nearest", || {
        names_are_unique_and_a_slip_finds_the_nearest();
        Ok(())
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn names_are_unique_and_a_slip_finds_the_nearest() {
    let mut names: Vec<&str> = MODELS.iter().map(|method| method.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), MODELS.len());
    for method in MODELS {
        let slip = &method.name[1..];
        let error = goldilocks_models::find(slip).err().expect("no model is called so");
        assert_eq!(error.to_string(), format!("unknown model `{slip}`"));
        let hint = error.remedy().expect("a name is near").to_string();
        assert!(hint.starts_with(&format!("did you mean `{}`?", method.name)), "{hint}");
    }
}
