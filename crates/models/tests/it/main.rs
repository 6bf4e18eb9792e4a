//! What every model must do, checked over the registry: a new model is tested by being listed.

mod contract;
mod faults;
mod tales;
