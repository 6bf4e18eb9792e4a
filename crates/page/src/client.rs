//! For the tests: a page on a port of its own, and a visitor who speaks HTTP to it byte by byte.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;

use crate::keys::{self, Key};
use crate::study::{self, Mode, Settings};
use crate::{Catalogue, Limits, Site, Store, fixture, router, serve};

/// The researcher's token.
pub const TOKEN: &str = "a token that nobody guesses";

/// A page that is being served.
pub struct Served {
    pub site: Arc<Site>,
    pub address: SocketAddr,
    _folder: TempDir,
}

static SECONDS: AtomicU64 = AtomicU64::new(1_000);

/// A clock that a test can read: a second later each time.
fn now() -> f64 {
    SECONDS.fetch_add(1, Ordering::Relaxed) as f64
}

/// A page with a store of studies, and so with a token.
pub fn served(limits: Limits) -> Served {
    start(true, true, limits, now)
}

/// Such a page at a moment that does not pass.
pub fn served_in_a_moment() -> Served {
    start(true, true, Limits::default(), || 1_000.0)
}

/// A page without studies, free for anybody at this machine.
pub fn free() -> Served {
    start(false, true, Limits::default(), now)
}

/// Such a page on which no model answers.
pub fn unanswered() -> Served {
    start(false, false, Limits::default(), now)
}

fn start(has_store: bool, has_model: bool, limits: Limits, now: fn() -> f64) -> Served {
    let folder = TempDir::new().unwrap();
    let store = has_store.then(|| Store::open(&folder.path().join("study.db")).unwrap());
    let entry = models::find("word-distance").unwrap();
    let settings = models::Settings::from_text(entry, []).unwrap();
    let set = fixture::set();
    let model = (entry.train)(&settings, &models::Training::new(&set, 1, &|_| ())).unwrap();
    let answerers = has_model.then(|| fixture::model("word-distance", model)).into_iter().collect();
    let catalogue = Catalogue::new(vec![("bears".to_owned(), set)], answerers);
    let site = Arc::new(Site {
        catalogue: Arc::new(catalogue.unwrap()),
        key: store.as_ref().map_or_else(|| Key::random().unwrap(), |store| store.key().clone()),
        token: has_store.then(|| TOKEN.to_owned()),
        store,
        hosts: vec![],
        limits,
        now,
        on_error: |error| panic!("{error}"),
        studies: Mutex::new(BTreeMap::new()),
    });
    site.catalogue.answer_all();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let routes = router(Arc::clone(&site));
    std::thread::spawn(move || serve(listener, routes, limits));
    Served { site, address, _folder: folder }
}

impl Served {
    /// Somebody without a cookie.
    pub fn visitor(&self) -> Visitor {
        Visitor { address: self.address, cookies: BTreeMap::new() }
    }

    /// Somebody who has entered the token.
    pub fn researcher(&self) -> Visitor {
        let mut visitor = self.visitor();
        assert_eq!(visitor.post("/enter", &[("token", TOKEN)]).status, 303);
        visitor
    }

    /// Makes a study of two questions per class in one mode for two people; returns its code.
    pub fn study(&self, mode: Mode) -> String {
        let settings = Settings {
            modes: vec![mode],
            sample: Some(2),
            annotators: 2,
            shared: 1,
            times: 2,
            ..Settings::default()
        };
        let deal = study::deal(&self.site.catalogue.sets[0].set, &settings).unwrap();
        let code = keys::token().unwrap();
        study::create(self.store(), &settings, &deal, code.clone(), now()).unwrap();
        code
    }

    pub fn store(&self) -> &Store {
        self.site.store.as_ref().unwrap()
    }

    /// How many rows a table has.
    pub fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        self.store().read(|connection| connection.query_row(&sql, [], |row| row.get(0))).unwrap()
    }
}

/// Somebody with a browser that keeps cookies and does nothing else.
pub struct Visitor {
    pub address: SocketAddr,
    pub cookies: BTreeMap<String, String>,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// What follows a text up to the next quotation mark; the templates write `/` as `&#x2f;`.
    pub fn after(&self, text: &str) -> String {
        let plain = self.body.replace("&#x2f;", "/");
        plain.split(text).nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    /// The value of the first field of that name in a form.
    pub fn field(&self, name: &str) -> String {
        let after =
            self.body.split_once(&format!("name=\"{name}\" value=\"")).map(|(_, rest)| rest);
        let value = after.and_then(|rest| rest.split('"').next());
        value.unwrap_or_else(|| panic!("no field {name} in {}", self.body)).to_owned()
    }
}

/// Fields as a form sends them.
pub fn encoded(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

impl Visitor {
    pub fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, &[], "")
    }

    pub fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.post_with(path, fields, &[])
    }

    pub fn post_with(
        &mut self,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Reply {
        self.send("POST", path, headers, &encoded(fields))
    }

    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        for (name, value) in &self.cookies {
            head += &format!("Cookie: {name}={value}\r\n");
        }
        if method == "POST" {
            head += "Content-Type: application/x-www-form-urlencoded\r\n";
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        let reply = exchange(self.address, format!("{head}\r\n{body}").as_bytes());
        if let Some(cookie) = reply.header("set-cookie") {
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        reply
    }

    /// Joins a study.
    pub fn join(&mut self, code: &str, name: &str) -> Reply {
        let path = format!("/study/{code}");
        let seal = self.get(&path).field("seal");
        self.post(&path, &[("name", name), ("seal", &seal)])
    }

    /// Answers the question that a page shows.
    pub fn choose(&mut self, shown: &Reply, choice: &str) -> Reply {
        let fields = ["item", "shown", "seal"].map(|name| (name, shown.field(name)));
        let mut fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        fields.push(("choice", choice));
        self.post("/test", &fields)
    }
}

/// Sends bytes and reads until the other side closes.
pub fn exchange(address: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(bytes);
    read(stream)
}

/// Reads a reply until the other side closes.
pub fn read(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // A reset after the reply is as good as a close.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}
