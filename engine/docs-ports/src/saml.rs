//! What SAML identity providers say of who signed in, and what they are asked: [`Saml`].

use docs_model::{SamlService, Timestamp};

/// What a response has to fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlTrust {
    /// The entity id of the provider: the issuer of the response and of its assertion.
    pub issuer: String,
    /// The certificate that the provider signs with, as PEM or plain base64 of DER.
    pub certificate: String,
    /// The entity id of this service: the audience of the assertion.
    pub audience: String,
    /// Where the response was sent: its destination, and the recipient of the assertion.
    pub recipient: String,
}

/// Who signed in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlIdentity {
    /// The id of the assertion, by which a response that comes again is known.
    pub assertion: String,
    /// Until when the response may be taken: one that comes again later is refused as expired. At most a day ahead, and
    /// what clocks differ: until then it is known as one that was taken.
    pub until: Timestamp,
    /// Until when the provider lets the session last; it says nothing of it when absent.
    pub session_until: Option<Timestamp>,
    /// The request that the provider answers; it was not asked when absent.
    pub in_response_to: Option<String>,
    /// The name id of the subject, which is an e-mail address.
    pub email: String,
    /// The attribute `first_name`.
    pub first_name: Option<String>,
    /// The attribute `last_name`.
    pub last_name: Option<String>,
}

/// What a provider is asked: to sign somebody in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlRequest {
    /// The id, by which the answer names it: an XML name that nobody can guess.
    pub id: String,
    /// When it is made.
    pub at: Timestamp,
    /// Where the provider takes requests: an http or https address.
    pub destination: String,
    /// The entity id of this service.
    pub issuer: String,
    /// Where the answer is to be sent.
    pub recipient: String,
}

/// Reads and writes the messages of SAML 2.0: requests by the binding HTTP-Redirect, responses by HTTP-POST.
///
/// An adapter keeps nothing: the same response is verified again however often it comes. It takes milliseconds of
/// computing and waits for nothing.
pub trait Saml: Send + Sync + 'static {
    /// Verifies a response at a time, and reads the one assertion that is signed.
    ///
    /// `response` is the field `SAMLResponse` of the form: base64 of XML. Both may be of anybody's making.
    ///
    /// That the response answers a request of the browser that brings it, and comes for the first time, is for the
    /// caller to check, by what is answered here: the adapter only sees to it that the response and its assertion name
    /// the same request.
    ///
    /// # Errors
    /// [`SamlRefused`] for what the provider did not sign for this service, or what is not valid at the time.
    fn verify(&self, trust: &SamlTrust, response: &str, now: Timestamp) -> Result<SamlIdentity, SamlRefused>;

    /// Sees to it that responses can be verified with a certificate: that it can be read, and that its key is of a kind
    /// and a strength that is taken.
    ///
    /// # Errors
    /// [`SamlRefused`] for what no response could be verified with.
    fn check_certificate(&self, certificate: &str) -> Result<(), SamlRefused>;

    /// The address that a browser is sent to, with the request in it.
    ///
    /// # Errors
    /// [`SamlRefused`] where the destination is no http or https address.
    fn request(&self, request: &SamlRequest) -> Result<String, SamlRefused>;

    /// The metadata of this service as XML, for a provider to read.
    fn metadata(&self, service: &SamlService) -> String;
}

/// Why a response is refused, as a sentence for the operator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SamlRefused(pub String);
