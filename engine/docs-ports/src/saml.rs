//! SAML sign-in: [`Saml`].

use docs_model::{SamlService, Timestamp};

/// The expected values of a SAML response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlTrust {
    /// The entity id of the identity provider: the issuer of the response and of its assertion.
    pub issuer: String,
    /// The signing certificate of the provider, as PEM or plain base64 of DER.
    pub certificate: String,
    /// The entity id of this service: the audience of the assertion.
    pub audience: String,
    /// The URL that received the response. It must be the destination of the response and the recipient of the
    /// assertion.
    pub recipient: String,
}

/// A verified SAML identity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlIdentity {
    /// The id of the assertion, used to detect replays.
    pub assertion: String,
    /// The time until which the response is accepted. After it, a replay is rejected as expired. It is at most one day
    /// ahead, plus the permitted clock skew. Replay protection must remember the assertion until then.
    pub until: Timestamp,
    /// The end of the session as requested by the provider, if any.
    pub session_until: Option<Timestamp>,
    /// The id of the request to which this is the response; absent if the provider initiated the sign-in.
    pub in_response_to: Option<String>,
    /// The name id of the subject, which is an e-mail address.
    pub email: String,
    /// The attribute `first_name`.
    pub first_name: Option<String>,
    /// The attribute `last_name`.
    pub last_name: Option<String>,
}

/// An authentication request to a provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlRequest {
    /// The request id, which the response refers to. It must be an unguessable XML name.
    pub id: String,
    /// The time when the request was issued.
    pub at: Timestamp,
    /// The http or https URL where the provider receives requests.
    pub destination: String,
    /// The entity id of this service.
    pub issuer: String,
    /// The URL to which the response must be sent.
    pub recipient: String,
}

/// A SAML 2.0 service provider. It sends requests with the HTTP-Redirect binding and receives responses with HTTP-POST.
///
/// An adapter is stateless, so verifying a response does not prevent a replay. Verification takes milliseconds of CPU
/// time and never blocks.
pub trait Saml: Send + Sync + 'static {
    /// Verifies a response at the given time and returns the identity in its only signed assertion.
    ///
    /// `response` is the form field `SAMLResponse`, which contains XML in base64. Both may be malicious.
    ///
    /// Using the returned fields, the caller must check that the response belongs to a request of the same browser and
    /// is not a replay. The adapter only checks that the response and its assertion refer to the same request.
    ///
    /// # Errors
    /// [`SamlRefused`] for a response that the provider did not sign for this service, or that is not valid at the
    /// given time.
    fn verify(&self, trust: &SamlTrust, response: &str, now: Timestamp) -> Result<SamlIdentity, SamlRefused>;

    /// Checks that a certificate can be used for verification: it can be parsed, and its key has a supported type and
    /// strength.
    ///
    /// # Errors
    /// [`SamlRefused`] for a certificate that cannot verify any response.
    fn check_certificate(&self, certificate: &str) -> Result<(), SamlRefused>;

    /// Returns the URL to which the browser must be redirected, including the request.
    ///
    /// # Errors
    /// [`SamlRefused`] if the destination is not an http or https URL.
    fn request(&self, request: &SamlRequest) -> Result<String, SamlRefused>;

    /// Returns the service provider metadata as XML.
    fn metadata(&self, service: &SamlService) -> String;
}

/// The reason a response is rejected, as a sentence for the operator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SamlRefused(pub String);
