//! Batches in both forms.

use svc_odata::batch::{
    BatchError, BatchRequest, BatchResponse, JsonResponses, MultipartResponses, boundary,
    parse_json, parse_multipart, write_json_responses, write_multipart_responses,
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

#[test]
fn an_address_begins_with_another_request_or_with_the_service() {
    let referenced = |url: &str| {
        let request = BatchRequest { url: url.to_owned(), ..BatchRequest::default() };
        request.referenced().map(|(id, rest)| (id.to_owned(), rest.to_owned()))
    };
    for (url, expected) in [
        ("$1", Some(("1", ""))),
        ("$1/Items", Some(("1", "/Items"))),
        ("/$1/Items?$top=1", Some(("1", "/Items?$top=1"))),
        ("$a-b.c~d?$select=Name", Some(("a-b.c~d", "?$select=Name"))),
        ("$", None),
        ("$/Items", None),
        ("$metadata", None),
        ("$metadata?$format=json", None),
        ("$batch", None),
        ("$all", None),
        ("$entity?$id=Products(1)", None),
        ("$crossjoin(Products,Orders)", None),
        ("Products/$1", None),
        ("//$1", None),
        ("http://host/$1", None),
    ] {
        let expected = expected.map(|(id, rest)| (id.to_owned(), rest.to_owned()));
        assert_eq!(referenced(url), expected, "{url}");
    }
}

#[test]
fn a_request_waits_only_for_what_comes_before_it() {
    let batch = |requests: &[(&str, &str, &[&str])]| {
        let requests: Vec<String> = requests
            .iter()
            .map(|(id, group, on)| {
                let group = if group.is_empty() {
                    String::new()
                } else {
                    format!(r#","atomicityGroup":"{group}""#)
                };
                let on = serde_json::to_string(on).expect("JSON");
                format!(r#"{{"id":"{id}","method":"post","url":"a","dependsOn":{on}{group}}}"#)
            })
            .collect();
        parse_json(format!(r#"{{"requests":[{}]}}"#, requests.join(",")).as_bytes(), 9)
            .map(|all| all.len())
    };
    let unknown = |id: &str, on: &str| {
        Err(BatchError::UnknownDependency { id: id.to_owned(), on: on.to_owned() })
    };
    let twice = |id: &str| Err(BatchError::DuplicateId(id.to_owned()));
    assert_eq!(batch(&[]), Ok(0));
    assert_eq!(batch(&[("1", "", &[]), ("2", "", &["1", "1"])]), Ok(2));
    assert_eq!(batch(&[("1", "", &["1"])]), unknown("1", "1"));
    assert_eq!(
        batch(&[
            ("1", "g", &[]),
            ("2", "g", &["1"]),
            ("3", "", &["g", "2"]),
            ("4", "h", &["g", "3"])
        ]),
        Ok(4)
    );
    // Nobody waits for the group that it is in, or that comes later.
    assert_eq!(batch(&[("1", "g", &[]), ("2", "g", &["g"])]), unknown("2", "g"));
    assert_eq!(batch(&[("1", "", &["g"]), ("2", "g", &[])]), unknown("1", "g"));
    // A name is a request's or a group's.
    assert_eq!(batch(&[("g", "", &[]), ("1", "g", &[])]), twice("g"));
    assert_eq!(batch(&[("1", "g", &[]), ("g", "", &[])]), twice("g"));
    assert_eq!(batch(&[("g", "g", &[])]), twice("g"));
    assert_eq!(batch(&[("1", "g", &[]), ("2", "", &[]), ("3", "g", &[])]), twice("g"));
}

#[test]
fn a_body_is_what_its_type_says() {
    let request = |headers: &str, body: &str| {
        let batch = format!(
            r#"{{"requests":[{{"id":"1","method":"put","url":"a","headers":{{{headers}}},"body":{body}}}]}}"#
        );
        parse_json(batch.as_bytes(), 1).map(|mut all| all.remove(0)).map(|it| (it.body, it.headers))
    };
    let body = |headers: &str, body: &str| {
        request(headers, body).map(|(body, _)| body).map_err(|error| error.to_string())
    };
    let json = r#"{"a": 1.50,"b":"\u00e4"}"#;
    for headers in [
        "",
        r#""content-type":"application/json""#,
        r#""Content-Type":"application/problem+json; charset=utf-8""#,
    ] {
        assert_eq!(body(headers, json), Ok(json.as_bytes().to_vec()), "{headers}");
    }
    assert_eq!(
        request("", json).expect("a body").1,
        [("content-type".to_owned(), "application/json".to_owned())]
    );
    assert_eq!(request("", "null").expect("none").1, []);
    assert_eq!(body(r#""content-type":"TEXT/plain""#, r#""a\nä""#), Ok("a\nä".as_bytes().to_vec()));
    assert_eq!(body(r#""content-type":"image/png""#, r#""-_8=""#), Ok(vec![0xfb, 0xff]));
    let no_text =
        "the batch is malformed: the body of request `1` is not JSON, so it must be a string";
    assert_eq!(body(r#""content-type":"text/plain""#, "{}"), Err(no_text.to_owned()));
    let no_base64 = "the batch is malformed: the body of request `1` is not base64url";
    assert_eq!(body(r#""content-type":"image/png""#, r#""a b""#), Err(no_base64.to_owned()));
}

#[test]
fn a_boundary_has_at_most_seventy_letters_and_may_be_quoted() {
    let longest = "b".repeat(70);
    let cases = [
        (format!("multipart/mixed;boundary={longest}"), Some(longest.clone())),
        (format!("multipart/mixed;boundary={longest}b"), None),
        (
            "multipart/mixed; charset=UTF-8; boundary=\"a'()+_,-./:=?b\"".to_owned(),
            Some("a'()+_,-./:=?b".to_owned()),
        ),
        ("multipart/mixed;boundary=".to_owned(), None),
        ("multipart/mixed;boundary=\"\"".to_owned(), None),
        ("multipart/mixed;xboundary=b".to_owned(), None),
        ("multipart/mixedx;boundary=b".to_owned(), None),
        ("multipart/form-data;boundary=b".to_owned(), None),
        (String::new(), None),
    ];
    for (content_type, expected) in cases {
        assert_eq!(boundary(&content_type), expected, "{content_type}");
    }
}

#[test]
fn lines_that_only_begin_like_a_boundary_are_content() {
    let part = |content: &str| {
        format!(
            "Content-Type: application/http\r\n\r\nPOST Orders HTTP/1.1\r\nContent-Type: text/plain\r\n\r\n{content}\r\n"
        )
    };
    let content = "--bc\r\n --b\r\n--b-\r\nx--b--\r\n";
    let body = format!("--b  \r\n{}--b--\r\n--b\r\nnever read", part(content));
    let requests = parse_multipart(body.as_bytes(), "b", 9).expect("a batch");
    assert_eq!(requests.len(), 1);
    assert_eq!(String::from_utf8_lossy(&requests[0].body), content);
    // A length that is told ends the body before the line end of the boundary.
    let told = |length: &str| {
        let body = format!(
            "--b\r\nContent-Type: application/http\r\n\r\nPOST a HTTP/1.1\r\nContent-Length: {length}\r\n\r\n12345\r\n--b--"
        );
        let mut requests = parse_multipart(body.as_bytes(), "b", 9).expect("a batch");
        String::from_utf8(requests.remove(0).body).expect("text")
    };
    for (length, expected) in
        [("3", "123"), ("5", "12345"), ("99", "12345"), ("0", ""), ("-1", "12345"), ("x", "12345")]
    {
        assert_eq!(told(length), expected, "{length}");
    }
}

#[test]
fn answers_that_are_written_one_by_one_are_what_they_are_together() {
    let responses = [
        response("1", 200, "{\"a\":1}", None),
        response("2", 201, "{}", Some("g")),
        response("3", 204, "", Some("g")),
        response("4", 424, "{}", Some("h")),
        response("5", 200, "1", None),
    ];
    // Those of a group come together.
    let units: [&[BatchResponse]; 4] =
        [&responses[..1], &responses[1..3], &responses[3..4], &responses[4..]];
    let (mut json, mut writer) = (Vec::new(), JsonResponses::default());
    let (mut multipart, mut parts) = (Vec::new(), MultipartResponses::new("b"));
    for unit in units {
        writer.push(&mut json, unit);
        parts.push(&mut multipart, unit);
    }
    writer.end(&mut json);
    parts.end(&mut multipart);
    assert_eq!(json, write_json_responses(&responses));
    assert_eq!(multipart, write_multipart_responses(&responses, "b"));
    assert_eq!(write_json_responses(&[]), br#"{"responses":[]}"#);
    assert_eq!(write_multipart_responses(&[], "b"), b"--b--\r\n");
}

#[test]
fn an_answer_that_is_no_json_does_not_break_the_batch() {
    let mut broken = response("1", 200, "{\"a\":", None);
    let mut bytes = response("2", 200, "x", None);
    bytes.body = vec![0xff, 0xfe];
    broken.id = "\"1\"".to_owned();
    let mut text = bytes.clone();
    text.headers[0].1 = "text/plain".to_owned();
    let written = write_json_responses(&[broken, bytes, text]);
    let read: serde_json::Value = serde_json::from_slice(&written).expect("JSON");
    let bodies: Vec<&serde_json::Value> =
        read["responses"].as_array().expect("a list").iter().map(|it| &it["body"]).collect();
    assert_eq!(bodies, ["eyJhIjo", "__4", "__4"]);
    assert_eq!(read["responses"][0]["id"], "\"1\"");
}
