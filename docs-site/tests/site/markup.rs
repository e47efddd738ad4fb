//! HTML in the text of pages, in a real browser: malicious values for every element and attribute that the renderer
//! outputs.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use crate::{chromium::Browser, world::World};

/// The elements of the allow-list, and elements that are dropped or unknown.
const ELEMENTS: [&str; 117] = [
    "a",
    "abbr",
    "address",
    "applet",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "bdo",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "datalist",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "iframe",
    "image",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "li",
    "listing",
    "main",
    "map",
    "mark",
    "marquee",
    "math",
    "menu",
    "nav",
    "noscript",
    "object",
    "ol",
    "option",
    "p",
    "param",
    "picture",
    "plaintext",
    "pre",
    "progress",
    "q",
    "rt",
    "ruby",
    "s",
    "samp",
    "search",
    "section",
    "select",
    "slot",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "track",
    "tt",
    "u",
    "ul",
    "unknown-element",
    "var",
    "video",
    "wbr",
    "xmp",
];

/// URLs that would run a script.
const ADDRESSES: [&str; 18] = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " &#1; javascript:alert(1)",
    "java&#9;script:alert(1)",
    "java&#10;script:alert(1)",
    "&#x6A;avascript&colon;alert(1)",
    "javascript&#58;alert(1)",
    "\u{feff}javascript:alert(1)",
    "java\u{200b}script:alert(1)",
    "vbscript:msgbox(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "blob:https://forbidden.test/x",
    "view-source:javascript:alert(1)",
    "x\" onerror=\"alert(1)\" onfocus=\"alert(1)\" autofocus x=\"",
    "\"><img src=x onerror=alert(1)>",
    "'><svg onload=alert(1)>",
];

/// Elements with attributes, and Markdown with values.
const CARRIERS: [&str; 38] = [
    "<a href=\"{}\">x</a>",
    "<a href='{}' target=_blank>x</a>",
    "<a xlink:href=\"{}\" href=\"#\">x</a>",
    "[x](<{}>)",
    "[x][r]\n\n[r]: <{}>",
    "<img src=\"{}\">",
    "<img srcset=\"{} 2x\" src=\"/x.png\">",
    "<img src=\"https://media.test/a.png\" alt=\"{}\" title='{}' width='{}' align=\"{}\">",
    "<picture><source srcset=\"{}\" media=\"(prefers-color-scheme: dark)\"><img src=\"{}\"></picture>",
    "<video src=\"{}\" poster=\"{}\" controls autoplay></video>",
    "<video><source src=\"{}\" onerror=alert(1)></video>",
    "<audio src=\"{}\" autoplay></audio>",
    "<iframe src=\"{}\"></iframe>",
    "<iframe srcdoc=\"{}\"></iframe>",
    "<table background=\"{}\"><tr><td background=\"{}\">x</td></tr></table>",
    "<form action=\"{}\"><button formaction=\"{}\">x</button><input type=image src=\"{}\"></form>",
    "<object data=\"{}\"><embed src=\"{}\"></object>",
    "<svg><a xlink:href=\"{}\"><text>x</text></a><use href=\"{}\"/></svg>",
    "<math><mi href=\"{}\" xlink:href=\"{}\">x</mi></math>",
    "<base href=\"{}\"><link rel=stylesheet href=\"{}\"><meta http-equiv=refresh content=\"0;url={}\">",
    "<a id=\"{}\" name=\"{}\">x</a>",
    "<blockquote cite=\"{}\"><q cite=\"{}\">x</q><ins cite=\"{}\">y</ins></blockquote>",
    "<a href=\"#\" title=\"{}\" rel=\"{}\" target=\"{}\">x</a>",
    "<img src=\"https://media.test/a.png\" height=\"{}\">",
    "<p align=\"{}\">x</p><div style=\"text-align:{}\">y</div>",
    "<h2 id=\"{}\" align=\"{}\">x</h2>",
    "<span id=\"{}\">x</span><abbr title=\"{}\">y</abbr>",
    "<ol start=\"{}\" type=\"{}\"><li value=\"{}\">x</ol>",
    "<table><caption>x</caption><col width=\"{}\"><tr><th scope=\"{}\" align=\"{}\">y<td colspan=\"{}\" rowspan=\"{}\">z</table>",
    "<pre lang=\"{}\"><code class=\"language-{}\">x</code></pre>",
    "<details open=\"{}\" name=\"{}\"><summary id=\"{}\">x</summary>y</details>",
    "<picture><source srcset=\"https://media.test/a.png\" media=\"{}\" type=\"{}\"><img src=\"https://media.test/a.png\"></picture>",
    "<input type=\"checkbox\" checked value=\"{}\"><button value=\"{}\">x</button>",
    "<font color=\"{}\" face=\"{}\">x</font><mark style=\"color:{}\">y</mark>",
    "```{}\nx\n```\n\n~~~js title=\"{}\"\ny\n~~~",
    "## x {#{}}\n\n> [!{}]\n> y",
    "{% unknown title=\"{}\" %}\nx\n{% endunknown %}\n\n{% other url=\"{}\" %}",
    "{% embed url=\"{}\" %}\n\n{% file src=\"{}\" %}",
];

/// Markup whose meaning changes when it is serialized and parsed again.
const MUTATIONS: [&str; 22] = [
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\"></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\"></table></math>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<math><annotation-xml encoding=\"text/html\"><img src=x onerror=alert(1)></annotation-xml></math>",
    "<svg><foreignObject><body onload=alert(1)></foreignObject><script>alert(1)</script></svg>",
    "<svg><animate attributeName=href values=javascript:alert(1) /><a id=x><rect width=9 height=9 /></a></svg>",
    "<template><img src=x onerror=alert(1)></template>",
    "<textarea><img title=\"</textarea><img src=x onerror=alert(1)>\">",
    "<title><img title=\"</title><img src=x onerror=alert(1)>\">",
    "<xmp><img title=\"</xmp><img src=x onerror=alert(1)>\">",
    "<style><img title=\"</style><img src=x onerror=alert(1)>\">",
    "<iframe><img title=\"</iframe><img src=x onerror=alert(1)>\">",
    "<noembed><img title=\"</noembed><img src=x onerror=alert(1)>\">",
    "<select><option><style></select><img src=x onerror=alert(1)></style>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<<script>script>alert(1)<</script>/script>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<!--!><img src=x onerror=alert(1)--!>",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<?xml <img src=x onerror=alert(1)> ?>",
    "`a <img src=x` onerror=alert(1)> &lt;img src=x onerror=alert(1)&gt;",
];

/// Returns the element with event handler attributes, and with attributes that load resources or set styles.
fn with_attributes(element: &str) -> String {
    let events =
        ["click", "mouseover", "error", "load", "focus", "toggle", "animationstart", "pointerenter", "begin"];
    let events: Vec<String> =
        events.iter().map(|event| format!("on{event}=alert(1) ON{event}='alert(1)'")).collect();
    format!(
        "<{element} {} style=\"background:url(https://forbidden.test/{element});animation:x 1s\" autofocus tabindex=0 \
         srcdoc=\"<script>alert(1)</script>\" poster=https://forbidden.test/p ping=https://forbidden.test/q \
         is=x slot=y nonce=z class=\"top side\" id=\"location\">x</{element}>",
        events.join(" ")
    )
}

/// The files of the reader that interpret HTML, in `docs-markup/src/document`.
const READERS: [&str; 8] = [
    "reading_view/elements.rs",
    "reading_view/frames.rs",
    "atoms.rs",
    "attributes.rs",
    "cells.rs",
    "figures.rs",
    "rich.rs",
    "tables.rs",
];

/// Returns the names of elements and attributes in the source of the reader: all literals with the form of a name.
fn names_of_reader() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/docs-markup/src/document");
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.ends_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let mut names = BTreeSet::new();
    for file in READERS {
        let source = fs::read_to_string(folder.join(file)).expect("a file of the reader");
        names.extend(source.split('"').filter(|text| is_name(text)).map(str::to_owned));
    }
    for name in ["a", "href", "srcset", "figcaption", "data-mention", "rowspan", "data-full-width"] {
        assert!(names.contains(name), "{name} is not found in the reader");
    }
    names
}

/// Returns each element of the reader with each of its attributes. The URLs alternate, so that each attribute has each
/// URL on some element.
fn elements_of_reader() -> Vec<String> {
    let names: Vec<String> = names_of_reader().into_iter().collect();
    let mut out = Vec::new();
    for (at, element) in names.iter().filter(|name| !name.contains('-')).enumerate() {
        for attributes in names.chunks(80) {
            let mut tag = format!("<{element}");
            for (n, attribute) in attributes.iter().enumerate() {
                let address = ADDRESSES[(at + n) % ADDRESSES.len()].replace('"', "&quot;");
                tag.push_str(&format!(" {attribute}=\"{address}\""));
            }
            out.push(format!("{tag}>x</{element}>"));
        }
    }
    out
}

/// Returns all malicious fragments.
fn texts() -> Vec<String> {
    let carried = CARRIERS
        .iter()
        .flat_map(|carrier| ADDRESSES.iter().map(move |address| carrier.replace("{}", address)));
    let own = ELEMENTS.iter().map(|element| with_attributes(element));
    let mutations = MUTATIONS.iter().flat_map(|text| {
        [
            (*text).to_owned(),
            format!("<details><summary>{text}</summary>{text}</details>"),
            format!("a {text} b"),
        ]
    });
    carried.chain(own).chain(mutations).chain(elements_of_reader()).collect()
}

/// A script that lists the forbidden elements and attributes of the article.
const FORBIDDEN: &str = "[...document.querySelectorAll('article *')].flatMap((element) => [\
    ...(/^(script|iframe|object|embed|form|base|meta|link|style|video|audio|template)$/i.test(element.localName) \
        ? [element.outerHTML] : []), \
    ...[...element.attributes].filter((it) => /^(on|style$|srcdoc$|formaction$|ping$|poster$|background$|autofocus$)/i\
        .test(it.name)).map((it) => element.localName + ' ' + it.name), \
    ...(element.localName === 'a' && element.hasAttribute('href') \
        && !/^(https?|mailto|tel):$/.test(element.protocol) ? [element.outerHTML] : []), \
    ...(element.localName === 'img' && !/^https?:/.test(element.currentSrc || element.src) ? [element.outerHTML] : [])])";

#[tokio::test(flavor = "multi_thread")]
async fn no_html_in_a_page_runs_a_script_or_loads_other_hosts() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    let texts = texts();
    let groups: Vec<&[String]> = texts.chunks(24).collect();
    for (at, some) in groups.iter().enumerate() {
        let markdown = some.iter().enumerate().map(|(n, text)| {
            let text = text.replace("[r]", &format!("[r{n}]"));
            format!("{text}\n\n| a |\n| - |\n| {} |\n\n> - {text}\n\n", text.replace(['\n', '|'], " "))
        });
        let page = json!({ "operation": "insert_page", "title": format!("Page {at}"),
            "document": { "markdown": markdown.collect::<String>() } });
        w.edit(&space, json!([page])).await;
    }
    let (_, path) = w.site("Docs", &space).await;
    let base = format!("{}{path}", w.serve().await);
    browser.open(&base).await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    for at in 0..groups.len() {
        let url = format!("{base}page-{at}");
        browser.open(&url).await;
        browser.eval("document.querySelectorAll('details').forEach((it) => { it.open = true; })").await;
        let events = "['mouseover', 'focus', 'pointerenter', 'animationstart', 'error', 'load']";
        let dispatch = format!(
            "document.querySelectorAll('article *').forEach((it) => {events}.forEach((name) => \
             it.dispatchEvent(new Event(name))))"
        );
        browser.eval(&dispatch).await;
        assert_eq!(browser.eval(FORBIDDEN).await, Value::Array(Vec::new()), "{url}");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{url}");
        assert_eq!(browser.eval("location.href").await, url.as_str(), "nothing navigates");
    }
    let foreign: Vec<String> = browser.hosts().into_iter().filter(|host| host != "127.0.0.1").collect();
    assert_eq!(foreign, ["media.test"], "only the media that an element names is requested");
    browser.end().await;
}
