//! Ports: the interfaces between the platform and its environment. Other layers access time and randomness only through
//! them.

mod clock;
mod convert;
mod git;
mod ids;
mod metrics;
mod pdf;
mod saml;
pub mod search;
mod secrets;
mod spec;
mod translate;
mod web;

pub use clock::{Clock, SystemClock};
pub use convert::*;
pub use docs_model::MAX_FILE_BYTES;
pub use git::*;
pub use ids::{Ids, RandomIds, id_text, new_id};
pub use metrics::{Metric, MetricKind, Metrics, NoMetrics};
pub use pdf::*;
pub use saml::*;
pub use search::{SearchError, SearchIndex};
pub use secrets::{NotSealed, SealingKey, Secrets};
pub use spec::*;
pub use translate::*;
pub use web::{FetchMeter, Web, WebError, WebResponse};
