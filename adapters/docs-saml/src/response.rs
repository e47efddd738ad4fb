//! Verification of responses and assertions (SAML 2.0 Core, and the web browser SSO profile).

use chrono::{DateTime, TimeDelta, Utc};
use docs_model::Timestamp;
use docs_ports::{SamlIdentity, SamlRefused, SamlTrust};
use roxmltree::{Document, Node};

use crate::{
    key::{PublicKey, base64},
    refusal::refuse,
    signature::verify_parent,
    xml::{
        ASSERTION, DSIG, PROTOCOL, attribute, children, is_element, only_child, optional_child, parse, text,
    },
};

/// Maximum size of a response in bytes of XML.
pub const MAX_RESPONSE_BYTES: usize = 256 * 1024;
/// Permitted clock skew between provider and service, in seconds.
pub const CLOCK_SKEW_SECONDS: i64 = 60;
/// Maximum remaining validity of a response in seconds, and maximum distance of its issue time from now.
pub const MAX_VALIDITY_SECONDS: i64 = 24 * 60 * 60;
/// Status of a successful response.
const SUCCESS: &str = "urn:oasis:names:tc:SAML:2.0:status:Success";
/// Confirmation method for bearer assertions.
const BEARER: &str = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
/// Accepted name id formats. The format may also be absent or unspecified, because many providers send e-mail addresses
/// that way. A name id that is not an e-mail address is rejected when the user is created (`decisions/0032-saml.md`).
const EMAIL_FORMATS: [&str; 2] = [
    "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
    "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
];
/// Known conditions. They are checked, or are met by every sign-in to this service.
const CONDITIONS: [&str; 3] = ["AudienceRestriction", "OneTimeUse", "ProxyRestriction"];
/// Common prefix of status codes.
const STATUS: &str = "urn:oasis:names:tc:SAML:2.0:status:";
/// The standard failure codes without [`STATUS`]. No other status text is shown, because anyone can send an unsigned
/// response.
const FAILURES: [&str; 22] = [
    "Requester",
    "Responder",
    "VersionMismatch",
    "AuthnFailed",
    "InvalidAttrNameOrValue",
    "InvalidNameIDPolicy",
    "NoAuthnContext",
    "NoAvailableIDP",
    "NoPassive",
    "NoSupportedIDP",
    "PartialLogout",
    "ProxyCountExceeded",
    "RequestDenied",
    "RequestUnsupported",
    "RequestVersionDeprecated",
    "RequestVersionTooHigh",
    "RequestVersionTooLow",
    "ResourceNotRecognized",
    "TooManyResponses",
    "UnknownAttrProfile",
    "UnknownPrincipal",
    "UnsupportedBinding",
];
/// Maximum length of provider text in messages, in characters.
const MAX_SHOWN: usize = 200;

/// Verifies a response, and reads its assertion.
pub(crate) fn verify(trust: &SamlTrust, response: &str, now: Timestamp) -> Result<SamlIdentity, SamlRefused> {
    let clock = Clock(now.time());
    let (answered, signed) = signed_part(trust, response)?;
    // From here on, only the signed bytes are used. The original document has been dropped, because its tree takes many
    // times the memory of its text.
    let signed = parse(&signed)?;
    let assertion = match is_element(signed.root_element(), ASSERTION, "Assertion") {
        true => signed.root_element(),
        false => {
            check_response(signed.root_element(), trust)?;
            only_child(signed.root_element(), ASSERTION, "Assertion")?
        }
    };
    read(assertion, trust, (&answered, &clock))
}

/// Returns the id of the request that a response answers, and the signed XML: the assertion or the whole response.
fn signed_part(trust: &SamlTrust, response: &str) -> Result<(Option<String>, String), SamlRefused> {
    let text = decode(response)?;
    let document = parse(&text)?;
    require_shape(&document)?;
    let answered = check_response(document.root_element(), trust)?;
    let signed = signed_assertion(&document, &PublicKey::of_certificate(&trust.certificate)?)?;
    Ok((answered, signed))
}

fn decode(response: &str) -> Result<String, SamlRefused> {
    let too_large = || refuse(format!("it must be at most {MAX_RESPONSE_BYTES} bytes"));
    // Line breaks make up at most one character in ten.
    if response.len() > MAX_RESPONSE_BYTES / 2 * 3 {
        return Err(too_large());
    }
    let bytes = base64(response).ok_or_else(|| refuse("it is not valid base64"))?;
    if bytes.len() > MAX_RESPONSE_BYTES {
        return Err(too_large());
    }
    let text = String::from_utf8(bytes).map_err(|_| refuse("it is not XML in UTF-8"))?;
    // A byte order mark is not part of the document (XML 1.0, 4.3.3).
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Requires exactly one assertion, which must be a direct child of the response.
fn require_shape(document: &Document<'_>) -> Result<(), SamlRefused> {
    let root = document.root_element();
    if !is_element(root, PROTOCOL, "Response") {
        return Err(refuse("it is not a SAML 2.0 Response"));
    }
    let mut ids = Vec::new();
    let mut assertions = 0;
    for node in document.descendants().filter(Node::is_element) {
        let tag = node.tag_name();
        ids.extend(node.attributes().filter(|it| it.name().eq_ignore_ascii_case("id")).map(|it| it.value()));
        match tag.name() {
            "EncryptedAssertion" | "EncryptedID" => {
                let why = "it is encrypted, which is not supported; turn off encryption at the provider";
                return Err(refuse(why));
            }
            "Assertion" => {
                assertions += 1;
                if node.parent() != Some(root) || tag.namespace() != Some(ASSERTION) {
                    return Err(refuse("it has an assertion at an unexpected position"));
                }
            }
            "Signature" if tag.namespace() == Some(DSIG) => {
                let of = node.parent().filter(|of| *of == root || is_element(*of, ASSERTION, "Assertion"));
                if of.is_none() {
                    return Err(refuse("it has a signature at an unexpected position"));
                }
            }
            _ => {}
        }
    }
    ids.sort_unstable();
    if ids.windows(2).any(|two| two[0] == two[1]) {
        return Err(refuse("it has a duplicate ID"));
    }
    match assertions {
        1 => Ok(()),
        0 => check_status(root).and(Err(refuse("it has no assertion"))),
        _ => Err(refuse("it has more than one assertion")),
    }
}

/// Checks the attributes and status of a response. Returns the id of the request that it answers.
fn check_response(response: Node<'_, '_>, trust: &SamlTrust) -> Result<Option<String>, SamlRefused> {
    if attribute(response, "Version")? != "2.0" {
        return Err(refuse("its Version must be 2.0"));
    }
    check_status(response)?;
    let destination = attribute(response, "Destination")?;
    if destination != trust.recipient {
        return Err(refuse(format!("its Destination must be {}", format_for_message(&trust.recipient))));
    }
    if let Some(issuer) = optional_child(response, ASSERTION, "Issuer")? {
        check_issuer(issuer, trust)?;
    }
    Ok(response.attribute("InResponseTo").map(str::to_owned))
}

fn check_status(response: Node<'_, '_>) -> Result<(), SamlRefused> {
    let status = only_child(response, PROTOCOL, "Status")?;
    let code = only_child(status, PROTOCOL, "StatusCode")?;
    let value = attribute(code, "Value")?;
    if value == SUCCESS {
        return Ok(());
    }
    let inner = optional_child(code, PROTOCOL, "StatusCode")?.and_then(|code| code.attribute("Value"));
    let named = |value: &str| {
        let name = value.strip_prefix(STATUS)?;
        FAILURES.into_iter().find(|known| *known == name)
    };
    let said: Vec<&str> = [Some(value), inner].into_iter().flatten().filter_map(named).collect();
    match said.is_empty() {
        true => Err(refuse("the provider rejected the sign-in; its log has the reason")),
        false => Err(refuse(format!(
            "the provider rejected the sign-in: {}; its log has the reason",
            said.join(", ")
        ))),
    }
}

fn check_issuer(issuer: Node<'_, '_>, trust: &SamlTrust) -> Result<(), SamlRefused> {
    match text(issuer)? == trust.issuer {
        true => Ok(()),
        false => Err(refuse(format!("its Issuer must be {}", format_for_message(&trust.issuer)))),
    }
}

/// Verifies all signatures. Returns the signed assertion, or the signed response that contains it.
fn signed_assertion(document: &Document<'_>, key: &PublicKey) -> Result<String, SamlRefused> {
    let root = document.root_element();
    let assertion = only_child(root, ASSERTION, "Assertion")?;
    let signed = |element| -> Result<Option<String>, SamlRefused> {
        let signature = optional_child(element, DSIG, "Signature")?;
        signature.map(|signature| verify_parent(document, element, signature, key)).transpose()
    };
    let (response, assertion) = (signed(root)?, signed(assertion)?);
    assertion.or(response).ok_or_else(|| {
        refuse(
            "it is not signed; configure the provider to sign \
                                                  assertions",
        )
    })
}

/// Reads a signed assertion.
fn read(
    assertion: Node<'_, '_>,
    trust: &SamlTrust,
    (answered, clock): (&Option<String>, &Clock),
) -> Result<SamlIdentity, SamlRefused> {
    if attribute(assertion, "Version")? != "2.0" {
        return Err(refuse("the Version of its assertion must be 2.0"));
    }
    check_issuer(only_child(assertion, ASSERTION, "Issuer")?, trust)?;
    clock.check_issue_time(assertion)?;
    let conditions = only_child(assertion, ASSERTION, "Conditions")?;
    let until = check_conditions(conditions, trust, clock)?;
    let subject = only_child(assertion, ASSERTION, "Subject")?;
    let confirmed = check_confirmation(subject, trust, answered, clock)?;
    let name = only_child(subject, ASSERTION, "NameID")?;
    if name.attribute("Format").is_some_and(|format| !EMAIL_FORMATS.contains(&format)) {
        return Err(refuse("the format of its NameID must be emailAddress"));
    }
    let mut session_until = None;
    let mut statements = children(assertion, ASSERTION, "AuthnStatement").peekable();
    if statements.peek().is_none() {
        return Err(refuse("its assertion has no AuthnStatement"));
    }
    for statement in statements {
        if let Some(end) = clock.session_end(statement)? {
            session_until = Some(session_until.map_or(end, |known: DateTime<Utc>| known.min(end)));
        }
    }
    Ok(SamlIdentity {
        assertion: attribute(assertion, "ID")?.to_owned(),
        until: until.map_or(confirmed, |until| until.min(confirmed)).into(),
        session_until: session_until.map(Timestamp::new),
        in_response_to: answered.clone(),
        email: text(name)?,
        first_name: first_attribute(assertion, "first_name")?,
        last_name: first_attribute(assertion, "last_name")?,
    })
}

/// Checks the conditions of an assertion. Returns the end of its validity if stated.
fn check_conditions(
    conditions: Node<'_, '_>,
    trust: &SamlTrust,
    clock: &Clock,
) -> Result<Option<DateTime<Utc>>, SamlRefused> {
    clock.check_start(conditions, "NotBefore")?;
    let until = clock.end(conditions, "NotOnOrAfter")?;
    let known = |node: Node<'_, '_>| CONDITIONS.iter().any(|name| is_element(node, ASSERTION, name));
    if let Some(other) = conditions.children().find(|child| child.is_element() && !known(*child)) {
        return Err(refuse(format!(
            "its condition {} is not supported",
            format_for_message(other.tag_name().name())
        )));
    }
    let mut restrictions = children(conditions, ASSERTION, "AudienceRestriction").peekable();
    if restrictions.peek().is_none() {
        return Err(refuse("its assertion has no Audience"));
    }
    for restriction in restrictions {
        let mut audiences = Vec::new();
        for audience in children(restriction, ASSERTION, "Audience") {
            audiences.push(text(audience)?);
        }
        if !audiences.contains(&trust.audience) {
            return Err(refuse(format!(
                "its Audience is {}, expected {}",
                format_for_message(&audiences.join(", ")),
                format_for_message(&trust.audience)
            )));
        }
    }
    Ok(until)
}

/// Checks the subject's bearer confirmation. Returns the end of its validity. Only one bearer confirmation is
/// permitted: with two, the second could become valid after the replay protection for the first has expired.
fn check_confirmation(
    subject: Node<'_, '_>,
    trust: &SamlTrust,
    answered: &Option<String>,
    clock: &Clock,
) -> Result<DateTime<Utc>, SamlRefused> {
    let mut bearer = children(subject, ASSERTION, "SubjectConfirmation")
        .filter(|confirmation| confirmation.attribute("Method") == Some(BEARER));
    let data = match (bearer.next(), bearer.next()) {
        (Some(confirmation), None) => only_child(confirmation, ASSERTION, "SubjectConfirmationData")?,
        (None, _) => return Err(refuse("its subject has no bearer confirmation")),
        (Some(_), Some(_)) => return Err(refuse("its subject has more than one bearer confirmation")),
    };
    let recipient = attribute(data, "Recipient")?;
    if recipient != trust.recipient {
        return Err(refuse(format!(
            "its Recipient is {}, expected the address of this service",
            format_for_message(recipient)
        )));
    }
    if data.attribute("InResponseTo") != answered.as_deref() {
        return Err(refuse("the InResponseTo of the response and of its assertion differ"));
    }
    clock.check_start(data, "NotBefore")?;
    let until = clock.end(data, "NotOnOrAfter")?;
    until.ok_or_else(|| refuse("its SubjectConfirmationData has no NotOnOrAfter"))
}

/// Returns the first value of a subject attribute if it is not empty.
fn first_attribute(assertion: Node<'_, '_>, name: &str) -> Result<Option<String>, SamlRefused> {
    for statement in children(assertion, ASSERTION, "AttributeStatement") {
        for attribute in children(statement, ASSERTION, "Attribute") {
            let value = children(attribute, ASSERTION, "AttributeValue").next();
            if let (Some(value), true) = (value, attribute.attribute("Name") == Some(name)) {
                return text(value).map(|text| Some(text).filter(|text| !text.is_empty()));
            }
        }
    }
    Ok(None)
}

/// The current time, with tolerance for clock skew.
struct Clock(DateTime<Utc>);

impl Clock {
    const CLOCK_SKEW: TimeDelta = TimeDelta::seconds(CLOCK_SKEW_SECONDS);
    /// Maximum remaining validity of a response. The replay protection stores accepted responses until they are no
    /// longer valid.
    const MAX_VALIDITY: TimeDelta = TimeDelta::seconds(MAX_VALIDITY_SECONDS);

    fn read(node: Node<'_, '_>, name: &str) -> Result<Option<DateTime<Utc>>, SamlRefused> {
        let Some(text) = node.attribute(name) else { return Ok(None) };
        let time = DateTime::parse_from_rfc3339(text.trim());
        let time = time.map_err(|_| refuse(format!("its {name} is not a valid time")))?;
        Ok(Some(time.to_utc()))
    }

    /// Rejects a start time in the future.
    fn check_start(&self, node: Node<'_, '_>, name: &str) -> Result<(), SamlRefused> {
        match Self::read(node, name)? {
            Some(from) if from > self.0 + Self::CLOCK_SKEW => Err(refuse(format!(
                "it is not valid yet: its {name} is {from}, and the time here is {}; check both clocks",
                self.0
            ))),
            _ => Ok(()),
        }
    }

    /// Rejects an end time that has passed or that exceeds the maximum validity. Returns the end plus clock skew.
    fn end(&self, node: Node<'_, '_>, name: &str) -> Result<Option<DateTime<Utc>>, SamlRefused> {
        let Some(end) = Self::read(node, name)? else { return Ok(None) };
        if end > self.0 + Self::MAX_VALIDITY {
            return Err(refuse(format!(
                "its validity is too long: its {name} must be at most {} hours ahead, and the time here is {}",
                Self::MAX_VALIDITY.num_hours(),
                self.0
            )));
        }
        let taken = end + Self::CLOCK_SKEW;
        if taken <= self.0 {
            return Err(refuse(format!(
                "it has expired: its {name} is {end}, and the time here is {}; sign in again",
                self.0
            )));
        }
        Ok(Some(taken))
    }

    /// Rejects an expired session. Returns the end of the session stated by the provider, without adding clock skew.
    fn session_end(&self, statement: Node<'_, '_>) -> Result<Option<DateTime<Utc>>, SamlRefused> {
        match Self::read(statement, "SessionNotOnOrAfter")? {
            Some(end) if end <= self.0 => Err(refuse(format!(
                "the session at the provider has ended: its SessionNotOnOrAfter is {end}, and the time here \
                 is {}; sign in again",
                self.0
            ))),
            end => Ok(end),
        }
    }

    /// Rejects an issue time more than a day from now, in either direction.
    fn check_issue_time(&self, node: Node<'_, '_>) -> Result<(), SamlRefused> {
        let name = "IssueInstant";
        let at = Self::read(node, name)?.ok_or_else(|| refuse(format!("its assertion has no {name}")))?;
        match (at - self.0).abs() > Self::MAX_VALIDITY {
            true => Err(refuse(format!(
                "its {name} is {at}, which differs too much from the time here, {}; check both \
                 clocks",
                self.0
            ))),
            false => Ok(()),
        }
    }
}

/// Formats provider text for an error message: on one line, with limited length.
fn format_for_message(text: &str) -> String {
    let mut shown: String = text.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Created by xmlsec1 with the certificate's key.
    const SIGNED: &str = include_str!("../tests/saml/signed/assertion.xml");
    const CERTIFICATE: &str = include_str!("../tests/saml/keys/provider.crt");

    /// Returns the signed part of a response, without checking the structure of the response.
    fn signed_of(response: &str) -> Result<String, SamlRefused> {
        let document = Document::parse(response).expect("XML");
        signed_assertion(&document, &PublicKey::of_certificate(CERTIFICATE).expect("a key"))
    }

    /// Returns the e-mail address of a signed assertion.
    fn email_of(signed: &str) -> String {
        let trust = SamlTrust {
            issuer: "https://id.example.com/metadata".to_owned(),
            certificate: CERTIFICATE.to_owned(),
            audience: "https://docs.example.com/saml/1".to_owned(),
            recipient: "https://docs.example.com/saml/1/acs".to_owned(),
        };
        let clock = Clock(DateTime::from_timestamp(1_790_000_000, 0).expect("a time"));
        let document = parse(signed).expect("XML");
        let answered = Some("_request".to_owned());
        read(document.root_element(), &trust, (&answered, &clock)).expect("it is right").email
    }

    /// Splits text into the part before the first `from`, the part between, and the part after the first `to`.
    fn split_around<'a>(text: &'a str, from: &str, to: &str) -> (&'a str, &'a str, &'a str) {
        let start = text.find(from).expect("its start");
        let end = text.find(to).expect("its end") + to.len();
        (&text[..start], &text[start..end], &text[end..])
    }

    #[test]
    fn verified_content_equals_signed_content_in_any_shape() {
        let (before, signed, behind) = split_around(SIGNED, "<Assertion ", "</Assertion>");
        let (head, signature, rest) = split_around(signed, "<ds:Signature ", "</ds:Signature>");
        let bare = format!("{head}{rest}");
        let alike = bare.replace("ada@example.com", "evil@example.com");
        let evil = alike.replace("_assert", "_evil");
        let subject = |of: &str, more: &str| of.replacen("<Subject>", &format!("{more}<Subject>"), 1);
        let moved = format!("{signature}<Advice>{bare}</Advice>");
        let object = format!("<ds:Object>{bare}</ds:Object></ds:Signature>");
        let object = signature.replace("</ds:Signature>", &object);
        for (what, content, is_taken) in [
            ("as it is", signed.to_owned(), true),
            ("hidden", format!("<samlp:Extensions>{signed}</samlp:Extensions>{evil}"), false),
            ("before another", format!("{signed}{evil}"), false),
            ("behind another", format!("{evil}{signed}"), false),
            ("within another", subject(&evil, &format!("<Advice>{signed}</Advice>")), false),
            ("its signature moved", subject(&evil, &moved), false),
            ("its signature moved to the same id", subject(&alike, &moved), false),
            ("within its signature, moved", subject(&evil, &object), false),
            ("within its signature, moved to the same id", subject(&alike, &object), false),
            (
                "beside one that is hidden",
                format!("<samlp:Extensions>{evil}</samlp:Extensions>{signed}"),
                true,
            ),
            ("with one in its key", signed.replacen("<ds:KeyInfo>", &format!("<ds:KeyInfo>{evil}"), 1), true),
            ("a comment in the address", signed.replacen("ada@", "ada@<!---->", 1), true),
            (
                "a comment in the digest",
                signed.replacen("<ds:DigestValue>", "<ds:DigestValue><!---->", 1),
                true,
            ),
            ("another address", signed.replacen("ada@", "evil@", 1), false),
        ] {
            match signed_of(&format!("{before}{content}{behind}")) {
                Ok(signed) => {
                    assert!(is_taken, "{what}");
                    assert_eq!(email_of(&signed), "ada@example.com", "{what}");
                    assert!(!signed.contains("evil"), "{what}");
                }
                Err(why) => assert!(!is_taken, "{what}: {why}"),
            }
        }
    }
}
