//! Fuzz tests of response verification: no input crashes the process, exceeds the time and memory limits, or yields
//! unsigned data.
//!
//! `DOCS_FUZZ_INPUTS=10000000 cargo test --release -p docs-saml --test hostile -- --nocapture` sets the number of
//! inputs and enables the time limit, which depends on the machine and is therefore disabled by default.
//! `DOCS_FUZZ_SEED` sets the random seed.

#[expect(dead_code, reason = "the tests of responses use the rest")]
#[path = "saml/idp.rs"]
mod idp;

use std::time::Duration;

use cpu_time::ThreadTime;
use data_encoding::BASE64;
use docs_hostile::{CONSTANT_MEMORY, MAX_MEMORY_PER_BYTE, keep, lock_process, peak_of};
use docs_ports::Saml as _;
use docs_saml::{MAX_RESPONSE_BYTES, XmlSaml};

use idp::{EMAIL, HERE, Parts, Scheme, now, sign, trust};

/// Default number of inputs.
const INPUTS: u64 = 4_000;
/// Maximum time per input, if the time limit is enabled.
const MOST_TIME: Duration = Duration::from_millis(50);
/// One in this many inputs is signed after being mutated.
const SIGNED: usize = 32;
/// One in this many inputs has the maximum size of a response.
const LONG: usize = 512;
/// Fragments that are difficult to parse.
const PIECES: [&str; 42] = [
    "<",
    ">",
    "/>",
    "</",
    "\"",
    "'",
    "&",
    "&amp;",
    "&#x41;",
    "&#xFFFFFFFF;",
    "=",
    " ",
    "\0",
    "\u{feff}",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?xml ",
    "?>",
    "<!DOCTYPE a [<!ENTITY b 'c'>]>",
    " xmlns:a='b'",
    " xmlns='c'",
    " xml:base='/'",
    " ID=\"_a\"",
    " ID=\"_r\"",
    "<saml:Assertion>",
    "</saml:Assertion>",
    "<saml:Assertion ID=\"_b\"/>",
    "<ds:Signature>",
    "</ds:Signature>",
    "<ds:Object>",
    "<saml:EncryptedAssertion/>",
    "<a>",
    "</a>",
    "<a b='c'/>",
    "<n1:a/>",
    "<n2:a n1:b='c'/>",
    "ä\u{1d4b6}",
    "2026-",
    "T00:00:00Z",
    "{}",
];

/// A seeded random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap_or_default()
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Returns the text with some mutations.
    fn changed(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..=self.below(4) {
            let (at, end) = (self.place(&text), self.place(&text));
            let (at, end) = (at.min(end), at.max(end).min(at + 200));
            let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
            match self.below(6) {
                0 => text.replace_range(at..end, ""),
                1 => {
                    let (part, to) = (text[at..end].to_owned(), self.place(&text));
                    text.insert_str(to, &part);
                }
                2 => text.replace_range(at..end, self.of(&PIECES)),
                _ => text.insert_str(at, self.of(&PIECES)),
            }
        }
        text
    }

    fn place(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    }

    /// Repeats fragments within an assertion up to the maximum size of a response. A well-formed assertion is signed,
    /// so that it gets canonicalized.
    fn long(&mut self) -> String {
        let (a, b) = (self.of(&PIECES), self.of(&PIECES));
        let unit = format!("{a}{b}");
        let inside = unit.repeat(self.below(MAX_RESPONSE_BYTES - 6_000) / unit.len());
        let own = Parts::default();
        let uri = "u".repeat(1 + self.below(230));
        let namespaces: String = (0..self.below(28)).map(|n| format!(" xmlns:n{n}='{uri}'")).collect();
        signed_if_xml(&Parts { statements: format!("<a{namespaces}>{inside}</a>{}", own.statements), ..own })
    }

    /// Returns a response that is mutated before it is signed.
    fn signed(&mut self) -> String {
        let mut parts = Parts::default();
        let fields = [&mut parts.name, &mut parts.confirmation, &mut parts.conditions, &mut parts.statements];
        let field = fields.into_iter().nth(self.below(4)).expect("one of them");
        *field = self.changed(field);
        signed_if_xml(&parts)
    }
}

/// Returns the response with these parts. The assertion is signed with the elliptic curve key if it is well-formed.
fn signed_if_xml(parts: &Parts) -> String {
    let assertion = parts.assertion("_a");
    let is_xml = roxmltree::Document::parse(&assertion.replace(HERE, "")).is_ok();
    if !is_xml {
        return parts.around("_r", &assertion).replace(HERE, "");
    }
    let scheme = Scheme {
        key: "curve",
        signature: "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256".to_owned(),
        ..Scheme::default()
    };
    parts.around("_r", &sign(&assertion, "_a", &scheme)).replace(HERE, "")
}

#[test]
fn excess_equals_signs_are_refused_in_bounded_memory() {
    let _alone = lock_process();
    let own = Parts::default();
    let statements = format!("<a>{}</a>{}", "=".repeat(MAX_RESPONSE_BYTES - 6_000), own.statements);
    let xml = signed_if_xml(&Parts { statements, ..own });
    let response = BASE64.encode(xml.as_bytes());
    let (done, peak) = peak_of(|| XmlSaml.verify(&trust("curve"), &response, now().into()));
    let said = done.expect_err("too many").to_string();
    assert!(said.contains("at most 16000 equals signs"), "{said}");
    assert!(peak <= CONSTANT_MEMORY + 2 * response.len(), "{peak} bytes for {}", response.len());
}

#[test]
fn response_with_an_oversized_canonical_form_is_refused() {
    let _alone = lock_process();
    let own = Parts::default();
    let uri = "u".repeat(230);
    let namespaces: String = (0..20).map(|n| format!(" xmlns:n{n}='{uri}'")).collect();
    let inside = "<n2:a n1:b='c'/>2026-".repeat(2_200);
    let xml =
        signed_if_xml(&Parts { statements: format!("<a{namespaces}>{inside}</a>{}", own.statements), ..own });
    let response = BASE64.encode(xml.as_bytes());
    let (done, peak) = peak_of(|| XmlSaml.verify(&trust("curve"), &response, now().into()));
    let said = done.expect_err("too long").to_string();
    assert!(said.contains("its canonical form is too long"), "{said}");
    assert!(peak <= CONSTANT_MEMORY + 10 * response.len(), "{peak} bytes for {}", response.len());
}

#[test]
fn response_of_many_small_elements_uses_bounded_memory() {
    let _alone = lock_process();
    let own = Parts::default();
    let statements = format!("<a>{}</a>{}", "<a b='c'/>=".repeat(3_500), own.statements);
    let xml = signed_if_xml(&Parts { statements, ..own });
    let response = BASE64.encode(xml.as_bytes());
    let (done, peak) = peak_of(|| XmlSaml.verify(&trust("curve"), &response, now().into()));
    assert_eq!(done.expect("it is signed").email, EMAIL);
    assert!(peak <= CONSTANT_MEMORY + 12 * response.len(), "{peak} bytes for {}", response.len());
}

#[test]
fn mutated_response_is_refused_or_returns_signed_content() {
    let _alone = lock_process();
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (inputs, seed) = (number("DOCS_FUZZ_INPUTS"), number("DOCS_FUZZ_SEED").unwrap_or(1));
    let parts = Parts::default();
    let whole = sign(&parts.around("_r", &parts.assertion("_a").replace(HERE, "")), "_r", &Scheme::default());
    let both = sign(&parts.around("_r", &parts.signed_assertion()), "_r", &Scheme::default());
    let from = [
        parts.signed(),
        whole,
        both,
        include_str!("saml/signed/assertion.xml").to_owned(),
        include_str!("saml/signed/prefixes.xml").to_owned(),
    ];
    let (trusted, curve) = (trust("provider"), trust("curve"));
    let (mut random, mut slowest, mut taken) = (Random(seed), Duration::ZERO, 0_u64);
    let mut memory = 0.0_f64;
    for _ in 0..inputs.unwrap_or(INPUTS) {
        let (is_short, is_long) = (random.below(SIGNED) == 0, random.below(LONG) == 0);
        let is_signed = is_short || is_long;
        let xml = match (is_long, is_short) {
            (true, _) => random.long(),
            (false, true) => random.signed(),
            (false, false) => {
                let from = &from[random.below(from.len())];
                random.changed(from)
            }
        };
        let (trust, response) = (if is_signed { &curve } else { &trusted }, BASE64.encode(xml.as_bytes()));
        let read = || {
            let start = ThreadTime::now();
            (XmlSaml.verify(trust, &response, now().into()), start.elapsed())
        };
        let ((done, mut time), peak) = peak_of(read);
        memory = memory.max(peak.saturating_sub(CONSTANT_MEMORY) as f64 / response.len() as f64);
        if peak > CONSTANT_MEMORY + MAX_MEMORY_PER_BYTE * response.len() {
            keep("SAML", xml.as_bytes());
            panic!("{peak} bytes for {}: {xml:.300}", response.len());
        }
        if time > MOST_TIME {
            // Other processes affect the CPU caches, so only inputs that are slow repeatedly count.
            time = time.min(read().1);
        }
        slowest = slowest.max(time);
        assert!(inputs.is_none() || time <= MOST_TIME, "{time:?} for {} bytes: {xml:.300}", xml.len());
        if let Ok(identity) = done {
            taken += 1;
            assert!(is_signed || identity.email == EMAIL, "{} of {xml}", identity.email);
        }
    }
    let inputs = inputs.unwrap_or(INPUTS);
    println!(
        "{inputs} inputs, {taken} of them taken, at most {memory:.1} bytes of memory a byte beyond {CONSTANT_MEMORY}, slowest \
         {slowest:?}"
    );
}
