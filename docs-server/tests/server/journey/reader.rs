//! What a reader does in a browser, and what they see there.

use serde_json::{Value, json};

use crate::journey::chromium::Browser;

/// Somebody in front of a browser.
pub(crate) struct Reader {
    pub(crate) browser: Browser,
}

/// What shows pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    height: u32,
}

pub(crate) const DESKTOP: Screen = Screen { name: "desktop", width: 1180, height: 820 };
pub(crate) const PHONE: Screen = Screen { name: "phone", width: 390, height: 820 };

impl Reader {
    /// Goes on reading on another screen.
    pub(crate) async fn has(&mut self, screen: Screen) {
        let Screen { name, width, height } = screen;
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": name == PHONE.name });
        self.browser.ask("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// The heading of the page.
    pub(crate) async fn heading(&mut self) -> String {
        self.browser.eval("document.querySelector('h1').innerText").await.as_str().expect("text").to_owned()
    }

    /// Waits for the page of a heading, before which an emoji may stand.
    pub(crate) async fn comes_to(&mut self, heading: &str) {
        let heading = Value::from(heading);
        self.browser.until(&format!("document.querySelector('h1').textContent.endsWith({heading})")).await;
    }

    /// Whether a text is shown in a part of the page.
    async fn is_shown(&mut self, part: &str, text: &str) -> bool {
        let (part, text) = (Value::from(part), Value::from(text));
        let script =
            format!("[...document.querySelectorAll({part})].some((it) => it.innerText.includes({text}))");
        self.browser.eval(&script).await == true
    }

    pub(crate) async fn sees(&mut self, part: &str, text: &str) {
        assert!(self.is_shown(part, text).await, "{text} is not shown in {part}");
    }

    pub(crate) async fn does_not_see(&mut self, part: &str, text: &str) {
        assert!(!self.is_shown(part, text).await, "{text} is shown in {part}");
    }

    /// Whether something is visible: not within what is closed.
    pub(crate) async fn can_see(&mut self, what: &str) -> bool {
        let what = Value::from(what);
        self.browser.eval(&format!("document.querySelector({what}).checkVisibility()")).await == true
    }

    /// Clicks where something is: what lies above it would be hit instead.
    pub(crate) async fn click(&mut self, what: &str) {
        println!("click {what} of {}", self.browser.eval("location.href").await);
        let script = format!(
            "(() => {{ const it = document.querySelector({}); it.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const box = it.getBoundingClientRect(), at = [box.x + box.width / 2, box.y + box.height / 2]; \
             return it.contains(document.elementFromPoint(...at)) ? at : null; }})()",
            Value::from(what)
        );
        let at = self.browser.eval(&script).await;
        assert!(at.is_array(), "{what} is not in front");
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1 });
            self.browser.ask("Input.dispatchMouseEvent", event).await;
        }
    }

    /// Presses a key: a sign, or `Enter`.
    pub(crate) async fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { key };
        let code = if key == "Enter" { 13 } else { 0 };
        let down = json!({ "type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code });
        self.browser.ask("Input.dispatchKeyEvent", down).await;
        self.browser.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key })).await;
    }

    /// Types into what has the focus.
    pub(crate) async fn types(&mut self, text: &str) {
        self.browser.ask("Input.insertText", json!({ "text": text })).await;
    }

    /// How bright the page is behind its text, from 0 to 255.
    pub(crate) async fn brightness(&mut self) -> u64 {
        // Browsers write some colours by functions: painting one says what it is.
        let script = "(() => { const paint = document.createElement('canvas').getContext('2d'); \
             paint.fillStyle = getComputedStyle(document.documentElement).backgroundColor; \
             paint.fillRect(0, 0, 1, 1); const [r, g, b] = paint.getImageData(0, 0, 1, 1).data; \
             return Math.round((r + g + b) / 3); })()";
        self.browser.eval(script).await.as_u64().expect("a number")
    }
}
