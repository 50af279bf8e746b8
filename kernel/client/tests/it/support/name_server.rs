//! A DNS server that answers what a test says, over UDP.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use parking_lot::Mutex;
use svc_client::SystemResolver;
use svc_testing::eventually;
use tokio::net::UdpSocket;

/// What a name server says about a name.
#[derive(Clone)]
pub(crate) enum Answer {
    /// These addresses; each goes into the answer for its family.
    Addresses(Vec<IpAddr>),
    NoSuchName,
    Failure,
    Silence,
}

impl Answer {
    pub(crate) fn addresses(list: &[&str]) -> Self {
        Self::Addresses(list.iter().map(|text| text.parse().unwrap()).collect())
    }
}

pub(crate) struct NameServer {
    address: SocketAddr,
    script: Arc<Mutex<Answer>>,
    /// Queries for IPv4 addresses; each look-up asks one.
    lookups: Arc<AtomicUsize>,
    names: Arc<Mutex<Vec<String>>>,
}

impl NameServer {
    /// Starts answering with this time to live.
    pub(crate) async fn start(first: Answer, ttl: u32) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: socket.local_addr().unwrap(),
            script: Arc::new(Mutex::new(first)),
            lookups: Arc::default(),
            names: Arc::default(),
        };
        let (script, lookups, names) =
            (Arc::clone(&server.script), Arc::clone(&server.lookups), Arc::clone(&server.names));
        tokio::spawn(async move {
            let mut buffer = [0; 4_096];
            loop {
                let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
                let query = Message::from_vec(&buffer[..length]).unwrap();
                names.lock().push(query.queries[0].name().to_string());
                if query.queries[0].query_type() == RecordType::A {
                    lookups.fetch_add(1, Ordering::SeqCst);
                }
                let answer = script.lock().clone();
                if let Some(response) = respond(&query, &answer, ttl) {
                    socket.send_to(&response.to_vec().unwrap(), from).await.unwrap();
                }
            }
        });
        server
    }

    /// Answers differently from now on.
    pub(crate) fn change(&self, answer: Answer) {
        *self.script.lock() = answer;
    }

    pub(crate) fn resolver(&self) -> Arc<SystemResolver> {
        Arc::new(SystemResolver::with_name_server(self.address).unwrap())
    }

    pub(crate) fn lookups(&self) -> usize {
        self.lookups.load(Ordering::SeqCst)
    }

    pub(crate) async fn was_asked(&self) {
        eventually("the name server is asked", async || self.lookups() > 0).await;
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.names.lock().clone()
    }
}

fn respond(query: &Message, answer: &Answer, ttl: u32) -> Option<Message> {
    let question = query.queries[0].clone();
    let mut response = Message::response(query.metadata.id, query.metadata.op_code);
    match answer {
        Answer::Silence => return None,
        Answer::NoSuchName => response.metadata.response_code = ResponseCode::NXDomain,
        Answer::Failure => response.metadata.response_code = ResponseCode::ServFail,
        Answer::Addresses(addresses) => {
            let wanted = question.query_type();
            for address in addresses {
                let data = RData::from(*address);
                if data.record_type() == wanted {
                    response.add_answer(Record::from_rdata(question.name().clone(), ttl, data));
                }
            }
        }
    }
    response.add_query(question);
    Some(response)
}
