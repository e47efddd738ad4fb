//! The ports of a platform.

use std::sync::Arc;

use crate::ports::{
    Clock, Converter, GitRemote, Ids, Metrics, NoMetrics, Pdf, PseudoTranslator, RandomIds, Saml, SpecReader,
    SystemClock, Translator, Web,
};

/// The ports used by operations. An operation is rejected if a port it needs is `None`.
pub(in crate::platform) struct Ports {
    pub(in crate::platform) clock: Arc<dyn Clock>,
    pub(in crate::platform) ids: Arc<dyn Ids>,
    pub(in crate::platform) git: Option<Arc<dyn GitRemote>>,
    pub(in crate::platform) web: Option<Arc<dyn Web>>,
    pub(in crate::platform) converter: Option<Arc<dyn Converter>>,
    pub(in crate::platform) pdf: Option<Arc<dyn Pdf>>,
    pub(in crate::platform) spec_reader: Option<Arc<dyn SpecReader>>,
    pub(in crate::platform) saml: Option<Arc<dyn Saml>>,
    pub(in crate::platform) translator: Arc<dyn Translator>,
    pub(in crate::platform) metrics: Arc<dyn Metrics>,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            git: None,
            web: None,
            converter: None,
            pdf: None,
            spec_reader: None,
            saml: None,
            translator: Arc::new(PseudoTranslator),
            metrics: Arc::new(NoMetrics),
        }
    }
}
