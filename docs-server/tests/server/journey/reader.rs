//! Actions of a reader in a browser, and what the reader can see.

use serde_json::{Value, json};

use crate::journey::chromium::Browser;

/// A reader in a browser.
pub(crate) struct Reader {
    pub(crate) browser: Browser,
}

/// A screen size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    height: u32,
}

pub(crate) const DESKTOP: Screen = Screen { name: "desktop", width: 1180, height: 820 };
pub(crate) const PHONE: Screen = Screen { name: "phone", width: 390, height: 820 };

impl Reader {
    /// Switches to another screen size.
    pub(crate) async fn has(&mut self, screen: Screen) {
        let Screen { name, width, height } = screen;
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": name == PHONE.name });
        self.browser.ask("Emulation.setDeviceMetricsOverride", size).await;
    }

    pub(crate) async fn heading(&mut self) -> String {
        self.browser.eval("document.querySelector('h1').innerText").await.as_str().expect("text").to_owned()
    }

    /// Waits for the page with this heading, before which an emoji may be shown.
    pub(crate) async fn comes_to(&mut self, heading: &str) {
        let heading = Value::from(heading);
        self.browser.until(&format!("document.querySelector('h1').textContent.endsWith({heading})")).await;
    }

    /// Returns `true` if an element of the page shows the text.
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

    /// Returns `true` if the element is visible, and not inside a collapsed parent.
    pub(crate) async fn can_see(&mut self, what: &str) -> bool {
        let what = Value::from(what);
        self.browser.eval(&format!("document.querySelector({what}).checkVisibility()")).await == true
    }

    /// Clicks an element. Fails if another element covers it.
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

    /// Presses a key: a character, or `Enter`.
    pub(crate) async fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { key };
        let code = if key == "Enter" { 13 } else { 0 };
        let down = json!({ "type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code });
        self.browser.ask("Input.dispatchKeyEvent", down).await;
        self.browser.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key })).await;
    }

    /// Types into the focused element.
    pub(crate) async fn types(&mut self, text: &str) {
        self.browser.ask("Input.insertText", json!({ "text": text })).await;
    }

    /// Returns the brightness of the page background, from 0 to 255.
    pub(crate) async fn brightness(&mut self) -> u64 {
        // Browsers may return colours as functions. Painting a pixel converts them to RGB.
        let script = "(() => { const paint = document.createElement('canvas').getContext('2d'); \
             paint.fillStyle = getComputedStyle(document.documentElement).backgroundColor; \
             paint.fillRect(0, 0, 1, 1); const [r, g, b] = paint.getImageData(0, 0, 1, 1).data; \
             return Math.round((r + g + b) / 3); })()";
        self.browser.eval(script).await.as_u64().expect("a number")
    }
}
