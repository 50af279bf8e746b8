//! Batches in both forms.

use svc_odata::batch::{
    BatchError, BatchRequest, BatchResponse, boundary, parse_json, parse_multipart,
    write_json_responses, write_multipart_responses,
};

const JSON: &str = r#"{"requests":[
    {"id":"1","method":"get","url":"Products?$top=1","headers":{"Accept":"application/json"}},
    {"id":"2","atomicityGroup":"g","method":"post","url":"Orders","headers":{"Content-Type":"application/json; charset=utf-8"},"body":{"Number":"A","Total":0.10}},
    {"id":"3","atomicityGroup":"g","method":"patch","url":"$2","dependsOn":["2"],"body":{"Status":"Paid"}},
    {"id":"4","method":"put","url":"Products(1)/Name/$value","dependsOn":["g"],"headers":{"content-type":"text/plain"},"body":"a b"},
    {"id":"5","method":"put","url":"x","headers":{"content-type":"image/png"},"body":"AQI"}
]}"#;

#[test]
fn json_becomes_requests() {
    let requests = parse_json(JSON.as_bytes(), 10).expect("a batch");
    assert_eq!(requests.len(), 5);
    assert_eq!(
        (requests[0].method.as_str(), requests[0].header("accept")),
        ("GET", Some("application/json"))
    );
    assert_eq!(requests[1].body, br#"{"Number":"A","Total":0.10}"#, "as it was written");
    assert_eq!(requests[1].group.as_deref(), Some("g"));
    assert_eq!(requests[2].depends_on, ["2"]);
    assert_eq!(requests[2].referenced(), Some(("2", "")));
    assert_eq!(requests[2].header("content-type"), Some("application/json"));
    assert_eq!(requests[3].body, b"a b");
    assert_eq!(requests[4].body, [1, 2]);
}

#[test]
fn json_that_contradicts_itself_is_refused() {
    let refused = |requests: &str| {
        parse_json(format!("{{\"requests\":[{requests}]}}").as_bytes(), 2).expect_err(requests)
    };
    let request = |id: &str, more: &str| {
        format!("{{\"id\":\"{id}\",\"method\":\"GET\",\"url\":\"a\"{more}}}")
    };
    let all = |requests: &[String]| requests.join(",");
    assert_eq!(
        refused(&all(&[request("1", ""), request("1", "")])),
        BatchError::DuplicateId("1".to_owned())
    );
    let unknown = BatchError::UnknownDependency { id: "1".to_owned(), on: "2".to_owned() };
    assert_eq!(refused(&all(&[request("1", ",\"dependsOn\":[\"2\"]"), request("2", "")])), unknown);
    assert!(matches!(
        refused(&request("1", ",\"atomicityGroup\":\"g\",\"dependsOn\":[\"g\"]")),
        BatchError::UnknownDependency { .. }
    ));
    assert_eq!(
        refused(&all(&[request("1", ""), request("2", ""), request("3", "")])),
        BatchError::TooMany(2)
    );
    assert!(matches!(refused(&request("", "")), BatchError::Malformed(_)));
    assert!(matches!(refused(&request("$1", "")), BatchError::Malformed(_)));
    assert_eq!(refused(&request("1", ",\"if\":\"x\"")).status(), 501);
    assert!(matches!(refused("{\"id\":\"1\"}"), BatchError::Malformed(_)));
    assert!(matches!(parse_json(b"{}", 2), Err(BatchError::Malformed(_))));
    let split = ["g", "h", "g"]
        .iter()
        .enumerate()
        .map(|(n, g)| request(&n.to_string(), &format!(",\"atomicityGroup\":\"{g}\"")));
    let body = format!("{{\"requests\":[{}]}}", split.collect::<Vec<_>>().join(","));
    assert_eq!(parse_json(body.as_bytes(), 9), Err(BatchError::DuplicateId("g".to_owned())));
}

const MULTIPART: &str = "preamble\r\n\
--b\r\n\
Content-Type: application/http\r\n\
Content-Transfer-Encoding: binary\r\n\
\r\n\
GET /odata/v1/Products?$top=1 HTTP/1.1\r\n\
Accept: application/json\r\n\
\r\n\
\r\n\
--b\r\n\
Content-Type: multipart/mixed; boundary=\"c\"\r\n\
\r\n\
--c\r\n\
Content-Type: application/http\r\n\
Content-ID: 1\r\n\
\r\n\
POST Orders HTTP/1.1\r\n\
Content-Type: application/json\r\n\
Content-Length: 14\r\n\
\r\n\
{\"Number\":\"A\"}\r\n\
--c\r\n\
Content-Type: application/http\r\n\
Content-ID: 2\r\n\
\r\n\
POST $1/Items HTTP/1.1\r\n\
Content-Type: application/json\r\n\
\r\n\
{\"Line\":1}\r\n\
--c--\r\n\
--b--\r\n\
epilogue";

#[test]
fn multipart_becomes_requests() {
    let requests = parse_multipart(MULTIPART.as_bytes(), "b", 10).expect("a batch");
    let expected = [
        BatchRequest {
            id: "part-1".to_owned(),
            method: "GET".to_owned(),
            url: "/odata/v1/Products?$top=1".to_owned(),
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            ..BatchRequest::default()
        },
        BatchRequest {
            id: "1".to_owned(),
            method: "POST".to_owned(),
            url: "Orders".to_owned(),
            headers: vec![
                ("content-type".to_owned(), "application/json".to_owned()),
                ("content-length".to_owned(), "14".to_owned()),
            ],
            body: b"{\"Number\":\"A\"}".to_vec(),
            group: Some("changeset-1".to_owned()),
            depends_on: Vec::new(),
        },
        BatchRequest {
            id: "2".to_owned(),
            method: "POST".to_owned(),
            url: "$1/Items".to_owned(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: b"{\"Line\":1}".to_vec(),
            group: Some("changeset-1".to_owned()),
            depends_on: vec!["1".to_owned()],
        },
    ];
    assert_eq!(requests, expected);
    // Line ends without a carriage return, as some clients write them.
    let unix = MULTIPART.replace("\r\n", "\n");
    assert_eq!(parse_multipart(unix.as_bytes(), "b", 10).expect("a batch").len(), 3);
    assert_eq!(parse_multipart(MULTIPART.as_bytes(), "b", 2), Err(BatchError::TooMany(2)));
}

#[test]
fn urls_are_encoded_where_a_client_did_not() {
    let expected = "Products?$filter=name%20eq%20'%C3%96l%25'&$top=1";
    let sent = "Products?$filter=name eq 'Öl%25'&$top=1";
    let part = "--b\r\nContent-Type: application/http\r\n\r\n";
    for line in [format!("GET {sent} HTTP/1.1"), format!("GET {sent}")] {
        let body = format!("{part}{line}\r\nAccept: application/json\r\n\r\n\r\n--b--");
        let requests = parse_multipart(body.as_bytes(), "b", 10).expect("a batch");
        assert_eq!(requests[0].url, expected);
    }
    let body = format!(r#"{{"requests":[{{"id":"1","method":"get","url":"{sent}"}}]}}"#);
    let requests = parse_json(body.as_bytes(), 10).expect("a batch");
    assert_eq!((requests[0].url.as_str(), requests[0].method.as_str()), (expected, "GET"));
}

#[test]
fn malformed_multipart_is_refused() {
    let without_end = MULTIPART.replace("--b--", "");
    for body in [
        "",
        "--b\r\n",
        without_end.as_str(),
        "--b\r\n\r\nGET a\r\n\r\n--b--",
        "--b\r\nContent-Type: application/http\r\n\r\nGET\r\n\r\n--b--",
    ] {
        assert!(parse_multipart(body.as_bytes(), "b", 10).is_err(), "{body:?}");
    }
    let reading = MULTIPART.replace("POST Orders", "GET Orders");
    assert!(parse_multipart(reading.as_bytes(), "b", 10).is_err());
    assert_eq!(boundary("multipart/mixed; boundary=a b").as_deref(), Some("a b"));
    assert_eq!(boundary("Multipart/Mixed;charset=x; Boundary=\"x\"").as_deref(), Some("x"));
    assert_eq!(boundary("application/json"), None);
    assert_eq!(boundary("multipart/mixed"), None);
}

fn response(id: &str, status: u16, body: &str, group: Option<&str>) -> BatchResponse {
    let headers = if body.is_empty() {
        Vec::new()
    } else {
        vec![("Content-Type".to_owned(), "application/json".to_owned())]
    };
    BatchResponse {
        id: id.to_owned(),
        status,
        headers,
        body: body.as_bytes().to_vec(),
        group: group.map(str::to_owned),
    }
}

#[test]
fn responses_are_written_as_json() {
    let mut text = response("2", 200, "a\"b", None);
    text.headers[0].1 = "text/plain".to_owned();
    let mut image = response("3", 200, "\u{1}\u{2}", Some("g"));
    image.headers[0].1 = "image/png".to_owned();
    let written = write_json_responses(&[
        response("1", 200, "{\"a\":0.10}", None),
        text,
        image,
        response("4", 204, "", None),
    ]);
    assert_eq!(
        String::from_utf8(written).expect("text"),
        r#"{"responses":[{"id":"1","status":200,"headers":{"content-type":"application/json"},"body":{"a":0.10}},{"id":"2","status":200,"headers":{"content-type":"text/plain"},"body":"a\"b"},{"id":"3","atomicityGroup":"g","status":200,"headers":{"content-type":"image/png"},"body":"AQI"},{"id":"4","status":204}]}"#
    );
}

#[test]
fn responses_are_written_as_multipart() {
    let responses = [
        response("part-1", 200, "{}", None),
        response("1", 201, "{}", Some("g")),
        response("2", 204, "", Some("g")),
        response("3", 409, "{}", Some("h")),
    ];
    let written = String::from_utf8(write_multipart_responses(&responses, "b")).expect("text");
    insta::assert_snapshot!(written.replace('\r', ""));
}
