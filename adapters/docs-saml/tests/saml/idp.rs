//! A test identity provider, which creates and signs responses.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use data_encoding::BASE64;
use docs_ports::{Saml as _, SamlIdentity, SamlTrust};
use docs_saml::XmlSaml;
use ring::{
    digest::{SHA256, SHA384, SHA512, digest},
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256,
        RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
    },
};
use roxmltree::Document;
use xml_sec::c14n::{C14nAlgorithm, C14nMode, canonicalize};

pub(crate) const ISSUER: &str = "https://id.example.com/metadata";
pub(crate) const AUDIENCE: &str = "https://docs.example.com/saml/1";
pub(crate) const RECIPIENT: &str = "https://docs.example.com/saml/1/acs";
pub(crate) const REQUEST: &str = "_request";
pub(crate) const EMAIL: &str = "ada@example.com";
/// Placeholder for a signature.
pub(crate) const HERE: &str = "{signature}";
pub(crate) const EXCLUSIVE: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";
pub(crate) const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";

/// Returns a time when everything is valid.
pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 0).expect("a time")
}

pub(crate) fn at(seconds: i64) -> String {
    (now() + TimeDelta::seconds(seconds)).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Returns a test certificate.
pub(crate) fn certificate(name: &str) -> String {
    let found = match name {
        "provider" => include_str!("keys/provider.crt"),
        "other" => include_str!("keys/other.crt"),
        "curve" => include_str!("keys/curve.crt"),
        "curve384" => include_str!("keys/curve384.crt"),
        "edwards" => include_str!("keys/edwards.crt"),
        "weak" => include_str!("keys/weak.crt"),
        "short" => include_str!("keys/short.crt"),
        "long" => include_str!("keys/long.crt"),
        _ => panic!("there is no certificate `{name}`"),
    };
    found.to_owned()
}

pub(crate) fn trust(name: &str) -> SamlTrust {
    SamlTrust {
        issuer: ISSUER.to_owned(),
        certificate: certificate(name),
        audience: AUDIENCE.to_owned(),
        recipient: RECIPIENT.to_owned(),
    }
}

/// The addressee of a response: the service, and the request to answer.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) audience: String,
    pub(crate) recipient: String,
    pub(crate) request: String,
}

impl Default for Asked {
    fn default() -> Self {
        Self { audience: AUDIENCE.to_owned(), recipient: RECIPIENT.to_owned(), request: REQUEST.to_owned() }
    }
}

/// The XML parts of a response. Tests can replace each of them.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) destination: String,
    pub(crate) answers: Option<String>,
    pub(crate) status: String,
    pub(crate) issuer: String,
    pub(crate) name: String,
    pub(crate) confirmation: String,
    pub(crate) conditions: String,
    pub(crate) statements: String,
}

impl Default for Parts {
    fn default() -> Self {
        Self::of(&Asked::default(), EMAIL)
    }
}

impl Parts {
    /// Creates the parts of a valid response for a user.
    pub(crate) fn of(asked: &Asked, email: &str) -> Self {
        let Asked { audience, recipient, request } = asked;
        Self {
            destination: format!("Destination=\"{recipient}\""),
            answers: Some(request.clone()),
            status: "<samlp:Status><samlp:StatusCode Value=\"urn:oasis:names:tc:SAML:2.0:status:Success\"/>\
                     </samlp:Status>"
                .to_owned(),
            issuer: ISSUER.to_owned(),
            name: format!(
                "<saml:NameID Format=\"urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress\">{email}</saml:NameID>"
            ),
            confirmation: confirmation(recipient, &format!("InResponseTo=\"{request}\""), &at(300)),
            conditions: conditions(&at(-60), &at(300), audience),
            statements: format!(
                "<saml:AuthnStatement AuthnInstant=\"{}\" SessionNotOnOrAfter=\"{}\"/>\
                 <saml:AttributeStatement><saml:Attribute Name=\"first_name\"><saml:AttributeValue \
                 xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
                 xsi:type=\"xs:string\">Ada &amp; Ärger</saml:AttributeValue></saml:Attribute>\
                 <saml:Attribute Name=\"last_name\"><saml:AttributeValue>Lovelace</saml:AttributeValue>\
                 </saml:Attribute></saml:AttributeStatement>",
                at(-5),
                at(3_600)
            ),
        }
    }
}

pub(crate) fn confirmation(recipient: &str, answers: &str, until: &str) -> String {
    format!(
        "<saml:SubjectConfirmation Method=\"urn:oasis:names:tc:SAML:2.0:cm:bearer\"><saml:SubjectConfirmationData \
         Recipient=\"{recipient}\" {answers} NotOnOrAfter=\"{until}\"/></saml:SubjectConfirmation>"
    )
}

pub(crate) fn conditions(from: &str, until: &str, audience: &str) -> String {
    format!(
        "<saml:Conditions NotBefore=\"{from}\" NotOnOrAfter=\"{until}\"><saml:AudienceRestriction>\
         <saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>"
    )
}

impl Parts {
    /// Returns the assertion, with a placeholder for the signature.
    pub(crate) fn assertion(&self, id: &str) -> String {
        let Self { issuer, name, confirmation, conditions, statements, .. } = self;
        format!(
            "<saml:Assertion xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\" ID=\"{id}\" Version=\"2.0\" \
             IssueInstant=\"{}\"><saml:Issuer>{issuer}</saml:Issuer>{HERE}<saml:Subject>{name}{confirmation}\
             </saml:Subject>{conditions}{statements}</saml:Assertion>",
            at(-5)
        )
    }

    /// Returns a response with this content, and a placeholder for the response's own signature.
    pub(crate) fn around(&self, id: &str, content: &str) -> String {
        let Self { destination, answers, status, issuer, .. } = self;
        let answers = answers.as_ref().map_or_else(String::new, |id| format!("InResponseTo=\"{id}\""));
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <samlp:Response xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\" \
             xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\" ID=\"{id}\" Version=\"2.0\" \
             IssueInstant=\"{}\" {destination} {answers}><saml:Issuer>{issuer}</saml:Issuer>{HERE}{status}\
             {content}</samlp:Response>",
            at(-5)
        )
    }

    /// Returns the response with a signed assertion.
    pub(crate) fn signed(&self) -> String {
        let response = self.around("_r", "{assertion}").replace(HERE, "");
        sign(&response.replace("{assertion}", &self.assertion("_a")), "_a", &Scheme::default())
    }

    /// Returns only the signed assertion.
    pub(crate) fn signed_assertion(&self) -> String {
        sign(&self.assertion("_a"), "_a", &Scheme::default())
    }
}

/// The parameters of a signature.
#[derive(Clone)]
pub(crate) struct Scheme {
    pub(crate) key: &'static str,
    pub(crate) signature: String,
    pub(crate) digest: String,
    /// Additional XML inside the transforms and inside the signature.
    pub(crate) transforms: String,
    pub(crate) form: String,
    pub(crate) uri: Option<String>,
    pub(crate) more: String,
    pub(crate) more_references: String,
}

impl Default for Scheme {
    fn default() -> Self {
        Self {
            key: "provider",
            signature: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256".to_owned(),
            digest: "http://www.w3.org/2001/04/xmlenc#sha256".to_owned(),
            transforms: format!(
                "<ds:Transform Algorithm=\"{ENVELOPED}\"/><ds:Transform Algorithm=\"{EXCLUSIVE}\"/>"
            ),
            form: EXCLUSIVE.to_owned(),
            uri: None,
            more: String::new(),
            more_references: String::new(),
        }
    }
}

/// Signs the element with this id, and inserts the signature at its placeholder.
pub(crate) fn sign(xml: &str, id: &str, scheme: &Scheme) -> String {
    let algorithm = match named(&scheme.digest) {
        "sha384" => &SHA384,
        "sha512" => &SHA512,
        _ => &SHA256,
    };
    let digest_value = BASE64.encode(digest(algorithm, &canonical(&xml.replacen(HERE, "", 1), id)).as_ref());
    let Scheme { key, signature, digest, transforms, form, uri, more, more_references, .. } = scheme;
    let uri = uri.clone().unwrap_or_else(|| format!("#{id}"));
    let info = format!(
        "<ds:SignedInfo Id=\"signed-{id}-{key}\"><ds:CanonicalizationMethod Algorithm=\"{form}\"/><ds:SignatureMethod \
         Algorithm=\"{signature}\"/><ds:Reference URI=\"{uri}\"><ds:Transforms>{transforms}</ds:Transforms>\
         <ds:DigestMethod Algorithm=\"{digest}\"/><ds:DigestValue>{digest_value}</ds:DigestValue></ds:Reference>\
         {more_references}</ds:SignedInfo>"
    );
    let with = |value: &str| {
        format!(
            "<ds:Signature xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\">{info}<ds:SignatureValue>{value}\
             </ds:SignatureValue>{more}</ds:Signature>"
        )
    };
    let to_sign = canonical(&xml.replacen(HERE, &with(""), 1), &format!("signed-{id}-{key}"));
    xml.replacen(HERE, &with(&BASE64.encode(&by_key(scheme, &to_sign))), 1)
}

/// Returns the fragment of an algorithm URI.
fn named(algorithm: &str) -> &str {
    algorithm.rsplit('#').next().unwrap_or_default()
}

/// Signs with the scheme's key. Uses SHA-256 if the scheme names an obsolete algorithm.
fn by_key(scheme: &Scheme, bytes: &[u8]) -> Vec<u8> {
    let random = SystemRandom::new();
    let on_curve = |algorithm, key: &[u8]| {
        let key = EcdsaKeyPair::from_pkcs8(algorithm, key, &random).expect("a key");
        key.sign(&random, bytes).expect("signed").as_ref().to_vec()
    };
    let key: &[u8] = match scheme.key {
        "curve" => return on_curve(&ECDSA_P256_SHA256_FIXED_SIGNING, include_bytes!("keys/curve.key")),
        "curve384" => return on_curve(&ECDSA_P384_SHA384_FIXED_SIGNING, include_bytes!("keys/curve384.key")),
        "provider" => include_bytes!("keys/provider.key"),
        "other" => include_bytes!("keys/other.key"),
        name => panic!("there is no key `{name}`"),
    };
    let encoding: &'static dyn RsaEncoding = match named(&scheme.signature) {
        "rsa-sha384" => &RSA_PKCS1_SHA384,
        "rsa-sha512" => &RSA_PKCS1_SHA512,
        "sha256-rsa-MGF1" => &RSA_PSS_SHA256,
        _ => &RSA_PKCS1_SHA256,
    };
    let key = RsaKeyPair::from_pkcs8(key).expect("a key");
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(encoding, &random, bytes, &mut signature).expect("signed");
    signature
}

/// Canonicalizes the element with this id.
fn canonical(xml: &str, id: &str) -> Vec<u8> {
    let document = Document::parse(xml).expect("XML");
    let named = |node: &roxmltree::Node<'_, '_>| node.attribute("ID").or(node.attribute("Id")) == Some(id);
    let element = document.descendants().find(named).expect("an element with the id");
    let is_in = |node: roxmltree::Node<'_, '_>| node.ancestors().any(|it| it == element);
    let mut bytes = Vec::new();
    let form = C14nAlgorithm::new(C14nMode::Exclusive1_0, false);
    canonicalize(&document, Some(&is_in), &form, &mut bytes).expect("canonical");
    bytes
}

/// Verifies a response with the default trust settings of the tests.
pub(crate) fn verify(xml: &str) -> Result<SamlIdentity, String> {
    verify_with(&trust("provider"), xml)
}

pub(crate) fn verify_with(trust: &SamlTrust, xml: &str) -> Result<SamlIdentity, String> {
    let response = BASE64.encode(xml.as_bytes());
    XmlSaml.verify(trust, &response, now().into()).map_err(|refused| refused.to_string())
}

/// Asserts that a response is rejected with this reason.
#[track_caller]
pub(crate) fn refused(what: &str, xml: &str, said: &str) {
    match verify(xml) {
        Ok(identity) => panic!("{what} lets {} in", identity.email),
        Err(why) => assert!(why.contains(said), "{what}: {why}"),
    }
}
