//! A real browser, driven over WebDriver: Chromium through chromedriver, both from the system's packages.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A browser window of its own, closed when this is dropped.
pub struct Browser {
    driver: Child,
    session: String,
    agent: ureq::Agent,
    _profile: tempfile::TempDir,
}

/// Why there is no browser, if there is none; whoever sets `GOLDILOCKS_BROWSER=required` gets a failure instead.
pub fn missing() -> bool {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let is_missing = !(is_there("chromedriver") && is_there("chromium"));
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment says whether a browser must be there"
    )]
    let is_required =
        std::env::var_os("GOLDILOCKS_BROWSER").is_some_and(|value| value == "required");
    assert!(
        !(is_missing && is_required),
        "no chromium and chromedriver: `.ci/browser` installs them"
    );
    if is_missing {
        // Not `eprintln!`, which a passing test keeps to itself.
        let text =
            "\nbrowser tests SKIPPED: no chromium and chromedriver: `.ci/browser` installs them\n";
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
    is_missing
}

impl Browser {
    /// Opens a window of that size.
    pub fn open(width: u32, height: u32, has_script: bool) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is there");
        let lines = BufReader::new(driver.stdout.take().expect("it is piped")).lines();
        // "ChromeDriver was started successfully on port 12345."
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let base = format!("http://127.0.0.1:{}", port.expect("chromedriver says its port"));
        let profile = tempfile::tempdir().expect("a temporary folder");
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ];
        let mut arguments: Vec<String> = arguments.map(str::to_owned).to_vec();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        arguments.push(format!("--window-size={width},{height}"));
        let script = if has_script { 1 } else { 2 };
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {
                "args": arguments,
                "prefs": {"profile.managed_default_content_settings.javascript": script},
            },
        }}});
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent: ureq::Agent = config.build().into();
        let mut browser =
            Self { driver, session: format!("{base}/session"), agent, _profile: profile };
        let opened = browser.post("", &capabilities);
        let id = opened["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}"));
        browser.session = format!("{base}/session/{id}");
        browser.cdp(
            "Emulation.setDeviceMetricsOverride",
            &json!({
                "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500,
            }),
        );
        // A page of a window without a screen has the focus or not as the browser's version will have it, and
        // without the focus it hears of no change of it.
        browser.cdp("Emulation.setFocusEmulationEnabled", &json!({"enabled": true}));
        browser
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let address = format!("{}{path}", self.session);
        let mut reply = self
            .agent
            .post(&address)
            .header("content-type", "application/json")
            .send(body.to_string())
            .expect("chromedriver answers");
        Self::value(&reply.body_mut().read_to_string().expect("chromedriver answers in text"), path)
    }

    fn get(&self, path: &str) -> Value {
        let address = format!("{}{path}", self.session);
        let mut reply = self.agent.get(&address).call().expect("chromedriver answers");
        let text = reply.body_mut().read_to_string().expect("chromedriver answers in text");
        let reply: Value = serde_json::from_str(&text).expect("chromedriver answers in JSON");
        reply["value"].clone()
    }

    fn value(text: &str, asked: &str) -> Value {
        let reply: Value = serde_json::from_str(text).expect("chromedriver answers in JSON");
        assert!(reply["value"]["error"].is_null(), "{asked}: {reply}");
        reply["value"].clone()
    }

    /// A command of the browser's own protocol.
    pub fn cdp(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// Goes to an address.
    pub fn go(&self, address: &str) {
        self.post("/url", &json!({"url": address}));
    }

    /// Does what leads to another page, and waits until that is there.
    pub fn follow(&self, action: impl FnOnce(&Self)) {
        let old = self.find("html");
        action(self);
        for _ in 0..600 {
            let is_gone = !self.get(&format!("/element/{old}/name"))["error"].is_null();
            if is_gone && self.run("return document.readyState") == "complete" {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("no other page came after {}", self.address());
    }

    /// Clicks, and waits for the page that this leads to.
    pub fn follow_click(&self, selector: &str) {
        self.follow(|browser| browser.click(selector));
    }

    /// Presses a key, and waits for the page that this leads to.
    pub fn follow_key(&self, key: &str) {
        self.follow(|browser| browser.press(key));
    }

    /// Runs a script and gives what it returns.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The element that a CSS selector finds first.
    fn find(&self, selector: &str) -> String {
        let found = self.post("/element", &json!({"using": "css selector", "value": selector}));
        let id = found.as_object().and_then(|found| found.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("no {selector}")).to_owned()
    }

    /// Clicks the first element that a selector finds.
    pub fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Types into the first element that a selector finds.
    pub fn type_into(&self, selector: &str, text: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/value"), &json!({"text": text}));
    }

    /// Presses a key wherever the focus is.
    pub fn press(&self, key: &str) {
        let actions = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.post(
            "/actions",
            &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}),
        );
    }

    /// Moves the pointer over the first element that a selector finds.
    pub fn point_at(&self, selector: &str) {
        // The name under which WebDriver passes elements (W3C WebDriver, 12.3).
        const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
        let id = self.find(selector);
        self.run(&format!(
            "document.querySelector({selector:?}).scrollIntoView({{block: 'center'}})"
        ));
        let steps = json!([{"type": "pointerMove", "origin": {ELEMENT: id}, "x": 0, "y": 0}]);
        let pointer = json!({"type": "pointer", "id": "pointer", "actions": steps});
        self.post("/actions", &json!({"actions": [pointer]}));
    }

    /// Presses Tab until an element that a selector finds has the focus.
    pub fn tab_to(&self, selector: &str) {
        let script = format!("return document.activeElement.matches({selector:?})");
        for _ in 0..200 {
            self.press("\u{e004}");
            if self.run(&script) == true {
                return;
            }
        }
        panic!("no key leads to {selector}");
    }

    /// Whether a selector finds something within a few seconds.
    pub fn comes(&self, selector: &str) -> bool {
        self.within_seconds(|browser| browser.has(selector))
    }

    /// Whether a selector finds nothing any more within a few seconds.
    pub fn goes(&self, selector: &str) -> bool {
        self.within_seconds(|browser| !browser.has(selector))
    }

    fn within_seconds(&self, is_so: impl Fn(&Self) -> bool) -> bool {
        (0..50).any(|_| {
            let is_so = is_so(self);
            if !is_so {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            is_so
        })
    }

    /// The text that a person sees in the first element that a selector finds.
    pub fn text(&self, selector: &str) -> String {
        let text = self.get(&format!("/element/{}/text", self.find(selector)));
        text.as_str().unwrap_or_else(|| panic!("{selector}: {text}")).to_owned()
    }

    /// Whether a selector finds anything.
    pub fn has(&self, selector: &str) -> bool {
        let found = self.post("/elements", &json!({"using": "css selector", "value": selector}));
        found.as_array().is_some_and(|found| !found.is_empty())
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        self.get("/url").as_str().unwrap_or_default().to_owned()
    }

    /// What the browser has noted since it was last asked: `browser` or `performance`.
    pub fn log(&self, kind: &str) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": kind}));
        let entries = log.as_array().cloned().unwrap_or_default();
        entries
            .iter()
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Light or dark, as a person's system would say.
    pub fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.cdp("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// The whole page as a picture.
    pub fn screenshot(&self, path: &Path) {
        let shot = self.cdp("Page.captureScreenshot", &json!({"captureBeyondViewport": true}));
        let data = shot["data"].as_str().expect("a picture").to_owned();
        std::fs::write(path, base64(&data)).expect("the picture can be written");
    }
}

/// RFC 4648; chromedriver sends pictures in it.
fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&byte| byte != b'=').map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let bits = four.iter().fold(0_u32, |bits, &digit| bits << 6 | u32::from(digit));
        let bits = bits << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    });
    bytes.collect()
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
