//! Requests that nobody would write: whatever comes, the server answers, and not with a fault of
//! its own.
//!
//! Each run draws the same requests: parts of requests that make sense, mixed, cut and repeated.
//! `ODATA_FUZZ` sets how many, and `ODATA_FUZZ_SEED` where to begin, for longer runs.

use std::fmt::Write as _;

use http::Method;
use svc_testing::{Backend, Client, Person, on_both_databases};

use crate::fixture::{start, stock};

const PATHS: &[&str] = &[
    "Lamps",
    "Makers",
    "Lamps(sku='A-1')",
    "Lamps(01990000-0000-7000-8000-000000000001)",
    "/$count",
    "/$ref",
    "/$value",
    "/maker",
    "/lamps",
    "/children",
    "/parent",
    "/price",
    "/sku",
    "/costPrice",
    "/Shop.Reprice",
    "/Quote(quantity=3)",
    "/UpTo(price=@p)",
    "/Best()",
    "/$filter(price gt 5)",
    "/$each",
    "/$query",
    "(id=null)",
    "(sku='A-1',region='EU')",
    "/",
    "$metadata",
    "$batch",
    "$all",
    "$entity",
    "$crossjoin(Lamps,Makers)",
    "Echo(text='x')",
    "CloseDay",
    "/Shop.Lamp",
    "(1)",
    "('')",
    "()",
    "(@p)",
    "%00",
    "%ff",
    "%",
    "..",
    "//",
    "\u{e4}",
    "/Shop.Raise",
    "/soldFrom",
    "/watts",
];

const OPTIONS: &[&str] = &[
    "$filter=",
    "$orderby=",
    "$select=",
    "$expand=",
    "$top=",
    "$skip=",
    "$count=",
    "$search=",
    "$apply=",
    "$compute=",
    "$skiptoken=",
    "$format=",
    "$levels=",
    "@p=",
    "$id=",
    "&",
    "=",
    "price",
    "sku",
    "region",
    "watts",
    "soldFrom",
    "makerId",
    "id",
    "maker",
    "lamps",
    "children",
    "parent",
    "discount",
    " eq ",
    " ne ",
    " gt ",
    " and ",
    " or ",
    "not ",
    " in ",
    " has ",
    "(",
    ")",
    ",",
    ";",
    "/",
    "'",
    "''",
    "null",
    "true",
    "5",
    "-1",
    "1e308",
    "1e400",
    "9223372036854775807",
    "99999999999999999999",
    "0.1",
    "INF",
    "NaN",
    "'x'",
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "0001-01-01",
    "24:00:00",
    "duration'P1D'",
    "01990000-0000-7000-8000-00000000000a",
    " add ",
    " sub ",
    " mul ",
    " div ",
    " divby ",
    " mod ",
    "-",
    "concat(",
    "contains(sku,",
    "substring(sku,",
    "year(soldFrom)",
    "now()",
    "round(",
    "length(sku)",
    "indexof(sku,'A')",
    "cast(price,Edm.Int32)",
    "cast(sku,Edm.Date)",
    "case(",
    ":",
    "any(l:l/price gt 1)",
    "all(l:",
    "l/",
    "$count",
    "$it",
    "$this",
    "$root/",
    "aggregate(",
    "price with sum as s",
    "groupby((region),",
    "filter(",
    "/",
    "$levels=max",
    " desc",
    " asc",
    " as c",
    "*",
    "%20",
    "%27",
    "%00",
    "%F0%9F%98%80",
    "\u{1f600}",
    "[1,2]",
    "{\"a\":1}",
    "\"",
    "matchesPattern(sku,'('",
    "fractionalseconds(soldFrom)",
    "totaloffsetminutes(soldFrom)",
    "date(soldFrom)",
    "time(soldFrom)",
    "mindatetime()",
    "maxdatetime()",
    "floor(",
    "ceiling(",
    "tolower(",
    "trim(",
];

const BODIES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"sku\"",
    "\"price\"",
    "\"region\"",
    "\"EU\"",
    "\"maker\"",
    "\"lamps\"",
    "\"name\"",
    "\"country\"",
    "\"maker@odata.bind\"",
    "\"@id\"",
    "\"Makers(1)\"",
    "\"Lamps(sku='A-1')\"",
    "null",
    "1",
    "-1.5",
    "1e999",
    "\"x\"",
    "true",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"id\"",
    "\"value\"",
    "{\"value\":5}",
    "\"requests\"",
    "{\"sku\":\"Z\",\"price\":1,\"region\":\"EU\"}",
    "{\"price\":1}",
    "\"only\"",
    "\"by\"",
    "[[[[",
    "\"@odata.type\"",
    "{\"requests\":[{\"id\":\"1\",\"method\":\"get\",\"url\":\"Lamps\"}]}",
    "\u{e4}",
    "99999999999999999999999999999999",
];

const HEADERS: &[(&str, &[&str])] = &[
    ("if-match", &["*", "W/\"1\"", "\"", "W/\"1\",W/\"2\"", "x", "W/\"99999999999999999999\""]),
    ("if-none-match", &["*", "W/\"1\"", "\"", ""]),
    (
        "prefer",
        &[
            "return=minimal",
            "odata.maxpagesize=1",
            "maxpagesize=x",
            "return=",
            "continue-on-error",
            "\"",
            ";;=",
        ],
    ),
    (
        "accept",
        &[
            "*/*",
            "application/json;odata.metadata=full",
            "application/json;odata.metadata=none",
            "application/json;IEEE754Compatible=true",
            "x",
            ";",
            "application/json;odata.metadata",
        ],
    ),
    ("odata-maxversion", &["4.0", "4.01", "3.0", "x", "99999999999.0"]),
    (
        "content-type",
        &[
            "application/json",
            "text/plain",
            "multipart/mixed;boundary=b",
            "multipart/mixed",
            "application/json;IEEE754Compatible=true",
            ";",
        ],
    ),
];

/// A stream of numbers that only looks like chance (xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    fn some(&mut self, of: &[&str], most: usize) -> String {
        (0..self.below(most + 1)).map(|_| *self.one(of)).collect()
    }

    /// Takes a piece out, or doubles it.
    fn spoil(&mut self, text: &str) -> String {
        let letters: Vec<char> = text.chars().collect();
        if letters.is_empty() || self.below(3) > 0 {
            return text.to_owned();
        }
        let (from, length) = (self.below(letters.len()), 1 + self.below(4));
        let to = (from + length).min(letters.len());
        let middle: &[char] = if self.below(2) == 0 { &[] } else { &letters[from..to] };
        letters[..to].iter().chain(middle).chain(&letters[to..]).skip(self.below(2)).collect()
    }
}

/// What a URI can't hold as it is, is escaped; a percent sign stays, so that broken escapes occur.
fn address(text: &str) -> String {
    let mut address = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{}|#".contains(&byte) {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}

async fn fuzz(client: &Client, backend: Backend) {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let mut draw = Draw(number("ODATA_FUZZ_SEED", 0x9e37_79b9_7f4a_7c15).max(1));
    let methods = [
        Method::GET,
        Method::GET,
        Method::GET,
        Method::POST,
        Method::PATCH,
        Method::PUT,
        Method::DELETE,
    ];
    let mut understood = 0;
    for _ in 0..number("ODATA_FUZZ", 400) {
        let path = draw.some(PATHS, 4);
        let path = draw.spoil(&path);
        let mut query = String::new();
        for _ in 0..draw.below(3) {
            query.push_str(draw.one::<&str>(&OPTIONS[..13]));
            query.push_str(&draw.some(OPTIONS, 6));
            query.push('&');
        }
        let target = format!("/odata/v1/{}?{}", address(&path), address(&draw.spoil(&query)));
        let Ok(uri) = target.parse::<http::Uri>() else { continue };
        let method = draw.one(&methods).clone();
        let body = draw.some(BODIES, 8);
        let mut headers = Vec::new();
        for (name, values) in HEADERS {
            if draw.below(4) == 0 {
                headers.push((*name, *draw.one(values)));
            }
        }
        let answer = client.send(method.clone(), &uri.to_string(), &headers, body.clone()).await;
        let status = answer.status.as_u16();
        assert!(
            status < 500 || status == 501,
            "{backend:?}: {method} {target} {headers:?} {body}: {status} {}",
            answer.text
        );
        understood += usize::from(status < 400);
    }
    assert!(understood > 10, "most of it is nonsense, but not all: {understood}");
}

on_both_databases! {
    async fn no_request_makes_the_server_fail(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        fuzz(&boss, backend).await;
    }
}
