//! The job that imports a repository.
use super::super::{
    Platform,
    jobs::{Effect, Run},
};
use crate::Result;
pub(in crate::platform) const IMPORT: &str = "git_import";
impl Platform {
    pub(in crate::platform) async fn import_job(&self, _run: &mut Run) -> Result<Effect> {
        Ok(Effect::Done)
    }
}
