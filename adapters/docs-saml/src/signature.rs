//! Enveloped signatures (XML Signature 1.1), restricted to the form that all providers use.
//!
//! A signature is a child of the element that it signs, and references only that element, by id. There are two
//! transforms: enveloped-signature removes the signature itself, and exclusive canonicalization without comments
//! serializes the rest.
//!
//! All parameters of a signature, such as the referenced element and the digest, are read from the signed bytes of
//! `SignedInfo`, never from the original document.

use docs_ports::SamlRefused;
use roxmltree::{Document, Node};
use xml_sec::c14n::{C14nAlgorithm, C14nMode, canonicalize};

use crate::{
    algorithms::digest_of,
    key::{PublicKey, base64},
    refusal::refuse,
    xml::{DSIG, attribute, is_element, only_child, parse, text},
};

/// Identifier of exclusive canonicalization, and the namespace of its parameters.
const EXCLUSIVE: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";
/// Maximum number of prefixes in an inclusive namespace list.
const MAX_PREFIXES: usize = 16;
/// Limit on namespace bytes in the canonical form, which may repeat declarations at each element: a number of bytes per
/// byte of the original text, plus a constant.
const DECLARED_A_BYTE: usize = 4;
const DECLARED_ANY: usize = 64 << 10;
/// The enveloped-signature transform.
const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";

/// Verifies the signature of its parent element. Returns the signed form of that element: the digested bytes, which
/// exclude the signature.
pub(crate) fn verify_parent(
    document: &Document<'_>,
    element: Node<'_, '_>,
    signature: Node<'_, '_>,
    key: &PublicKey,
) -> Result<String, SamlRefused> {
    require_parts(signature, &["SignedInfo", "SignatureValue", "KeyInfo"])?;
    let info = signed_info(document, signature, key)?;
    let info = parse(&info)?;
    let reference = only_child(info.root_element(), DSIG, "Reference")?;
    require_parts(reference, &["Transforms", "DigestMethod", "DigestValue"])?;
    let id = attribute(element, "ID")?;
    if attribute(reference, "URI")?.strip_prefix('#') != Some(id) {
        return Err(refuse("a signature must refer to the element that contains it"));
    }
    let form = read_transforms(only_child(reference, DSIG, "Transforms")?)?;
    let signed = canonical(document, element, Some(signature), &form)?;
    let digest =
        digest_of(attribute(only_child(reference, DSIG, "DigestMethod")?, "Algorithm")?, signed.as_bytes())?;
    let said = base64(&text(only_child(reference, DSIG, "DigestValue")?)?);
    if said.as_deref() != Some(digest.as_ref()) {
        return Err(refuse("it was changed after it was signed"));
    }
    Ok(signed)
}

/// Verifies the bytes of a `SignedInfo` and returns them. The canonicalization method is read from the document and
/// must equal the signed one. The signature algorithm is read from the signed bytes.
fn signed_info(
    document: &Document<'_>,
    signature: Node<'_, '_>,
    key: &PublicKey,
) -> Result<String, SamlRefused> {
    let info = only_child(signature, DSIG, "SignedInfo")?;
    let signed = canonical(document, info, None, &canonicalization(info)?)?;
    let value = base64(&text(only_child(signature, DSIG, "SignatureValue")?)?)
        .ok_or_else(|| refuse("its SignatureValue is not valid base64"))?;
    {
        let again = parse(&signed)?;
        let info = again.root_element();
        canonicalization(info)?;
        let method = attribute(only_child(info, DSIG, "SignatureMethod")?, "Algorithm")?;
        key.verify(method, signed.as_bytes(), &value)?;
    }
    Ok(signed)
}

/// Returns the canonicalization method of a `SignedInfo`. Requires its three children.
fn canonicalization(info: Node<'_, '_>) -> Result<C14nAlgorithm, SamlRefused> {
    require_parts(info, &["CanonicalizationMethod", "SignatureMethod", "Reference"])?;
    let method = only_child(info, DSIG, "CanonicalizationMethod")?;
    if attribute(method, "Algorithm")? != EXCLUSIVE {
        return Err(refuse("its signature must use exclusive canonical XML without comments"));
    }
    exclusive_c14n(method)
}

/// Requires an element to have exactly these children in this order, optionally followed by a `KeyInfo`.
fn require_parts(node: Node<'_, '_>, names: &[&str]) -> Result<(), SamlRefused> {
    let mut found = node.children().filter(Node::is_element);
    let all_there = names.iter().all(|name| match found.next() {
        Some(child) => is_element(child, DSIG, name),
        None => *name == "KeyInfo",
    });
    if all_there && found.next().is_none() {
        return Ok(());
    }
    let name = node.tag_name().name();
    Err(refuse(format!("{name} of its signature must have exactly {}", names.join(", "))))
}

/// Reads the canonicalization method from the two transforms of a reference.
fn read_transforms(node: Node<'_, '_>) -> Result<C14nAlgorithm, SamlRefused> {
    let other = || {
        refuse("its signature must have two transforms: enveloped-signature, then exclusive canonical XML")
    };
    let all: Vec<Node<'_, '_>> = node.children().filter(Node::is_element).collect();
    let [enveloped, form] = all[..] else { return Err(other()) };
    let named = |node, algorithm| {
        is_element(node, DSIG, "Transform") && node.attribute("Algorithm") == Some(algorithm)
    };
    if !named(enveloped, ENVELOPED) || enveloped.first_element_child().is_some() || !named(form, EXCLUSIVE) {
        return Err(other());
    }
    exclusive_c14n(form)
}

/// Creates an exclusive canonicalization method with its list of inclusive namespace prefixes.
fn exclusive_c14n(method: Node<'_, '_>) -> Result<C14nAlgorithm, SamlRefused> {
    let form = C14nAlgorithm::new(C14nMode::Exclusive1_0, false);
    let mut told = method.children().filter(Node::is_element);
    let form = match told.next() {
        None => form,
        Some(told) if is_element(told, EXCLUSIVE, "InclusiveNamespaces") => {
            let prefixes = attribute(told, "PrefixList")?;
            if prefixes.split_whitespace().count() > MAX_PREFIXES {
                return Err(refuse(format!(
                    "the PrefixList of its signature must have at most {MAX_PREFIXES} prefixes"
                )));
            }
            form.with_prefix_list(prefixes)
        }
        Some(_) => return Err(refuse("the canonicalization method of its signature has an unknown child")),
    };
    match told.next() {
        None => Ok(form),
        Some(_) => Err(refuse("the canonicalization method of its signature has more than one child")),
    }
}

/// Canonicalizes an element, optionally excluding one descendant.
fn canonical(
    document: &Document<'_>,
    element: Node<'_, '_>,
    without: Option<Node<'_, '_>>,
    form: &C14nAlgorithm,
) -> Result<String, SamlRefused> {
    let (whole, without) = (element.range(), without.map(|node| node.range()));
    let lies_in = |node: Node<'_, '_>, range: &std::ops::Range<usize>| {
        let own = node.range();
        range.start <= own.start && own.end <= range.end
    };
    let is_seen = |node: Node<'_, '_>| {
        !node.is_root()
            && lies_in(node, &whole)
            && !without.as_ref().is_some_and(|range| lies_in(node, range))
    };
    let declared = namespace_bytes(element);
    if declared > DECLARED_ANY + DECLARED_A_BYTE * whole.len() {
        return Err(refuse("its canonical form is too long"));
    }
    let mut bytes = Vec::with_capacity(whole.len() + declared);
    canonicalize(document, Some(&is_seen), form, &mut bytes)
        .map_err(|error| refuse(format!("it cannot be canonicalized: {error}")))?;
    String::from_utf8(bytes).map_err(|_| refuse("its canonical form is not UTF-8"))
}

/// Returns an upper bound for the namespace URI bytes in the canonical form, where the URIs of names and attributes
/// may be repeated at each element.
fn namespace_bytes(element: Node<'_, '_>) -> usize {
    let elements = element.descendants().filter(Node::is_element);
    let of_one = |node: Node<'_, '_>| {
        let attributes = node.attributes().filter_map(|it| it.namespace());
        attributes.chain(node.tag_name().namespace()).map(str::len).sum::<usize>()
    };
    elements.map(of_one).sum()
}
