//! A browser host as a program of its own, before the shop.

use std::net::SocketAddr;
use std::time::Duration;

use svc::bff::BrowserHost;
use svc::core::UserId;
use svc_testing::{Application, Backend, TestApp};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::browser::Browser;
use crate::house::{House, PUBLIC_URL};

/// What both sides know.
const SECRET: &str = "what a browser host proves itself with";

/// How the shop is before which a host stands.
pub const LISTENING: [(&str, &str); 2] =
    [("Svc:Http:Listen", "127.0.0.1:0"), ("Svc:OpenId:BrowserHostSecret", SECRET)];

/// The shop, listening, and a host before it with a database of its own.
pub struct Front {
    /// The shop.
    pub house: House,
    /// The host.
    pub host: TestApp,
}

impl Front {
    /// Starts both.
    pub async fn open(backend: Backend) -> Self {
        Self::open_with(backend, &[], &[]).await
    }

    /// The same with more settings, of the shop and of the host.
    pub async fn open_with(
        backend: Backend,
        of_shop: &[(&str, &str)],
        of_host: &[(&str, &str)],
    ) -> Self {
        let settings = [&LISTENING[..], of_shop].concat();
        let house = House::open_with(backend, &settings).await;
        let application = house.listen().await;
        let host = host_before(backend, &format!("http://{application}"), of_host).await;
        Self { house, host }
    }

    /// A browser that reaches the host, and that nobody is signed in with.
    #[must_use]
    pub fn browser(&self) -> Browser {
        Browser::new(self.host.anonymous(), PUBLIC_URL)
    }

    /// A browser in which a person has signed in on the account pages and to the host.
    ///
    /// # Panics
    ///
    /// When that doesn't work.
    pub async fn client_of(&self, user: UserId) -> Browser {
        let (browser, _) = self.house.browser_of(user).await;
        let mut browser = browser.at(self.host.anonymous());
        browser.sign_in("/").await;
        browser
    }

    /// Moves the clocks of both.
    pub fn advance(&self, by: Duration) {
        self.house.advance(by);
        self.host.advance(by);
    }
}

/// A host before an application, with these settings besides its own or in place of them.
///
/// # Panics
///
/// When it doesn't start.
pub async fn host_before(
    backend: Backend,
    application: &str,
    settings: &[(&str, &str)],
) -> TestApp {
    let own = [
        ("Svc:Http:Listen", "127.0.0.1:0"),
        ("Svc:Http:PublicUrl", PUBLIC_URL),
        ("Svc:BrowserHost:Api", application),
        ("Svc:BrowserHost:ClientSecret", SECRET),
    ];
    let own = own.into_iter().filter(|(key, _)| settings.iter().all(|(name, _)| name != key));
    let make = || Application::new("browser-host").module(BrowserHost);
    let mut builder = TestApp::builder(make);
    for (name, value) in own.chain(settings.iter().copied()) {
        builder = builder.setting(name, value);
    }
    builder.start(backend).await
}

/// A way to an application that can be cut, or end at somebody who answers for it.
pub struct Way {
    /// Where it begins.
    pub url: String,
    leads: watch::Sender<Leads>,
}

/// Where a way leads.
#[derive(Clone)]
enum Leads {
    ToApplication,
    Nowhere,
    /// To this answer, whatever is asked.
    To(String),
}

impl Way {
    /// A way to an address, which is open.
    ///
    /// # Panics
    ///
    /// When no port is free.
    pub async fn to(address: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it has an address"));
        let (leads, led) = watch::channel(Leads::ToApplication);
        tokio::spawn(async move {
            while let Ok((mut inner, _)) = listener.accept().await {
                let mut led = led.clone();
                tokio::spawn(async move {
                    let leads = led.borrow_and_update().clone();
                    match leads {
                        Leads::Nowhere => return,
                        Leads::To(answer) => return say(inner, &answer).await,
                        Leads::ToApplication => {}
                    }
                    let Ok(mut outer) = TcpStream::connect(address).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut inner, &mut outer) => {}
                        _ = led.changed() => {}
                    }
                });
            }
        });
        Self { url, leads }
    }

    /// Opens it, or cuts it, with all that is under way.
    pub fn set_open(&self, is_open: bool) {
        self.leads.send_replace(if is_open { Leads::ToApplication } else { Leads::Nowhere });
    }

    /// Cuts what is under way, and answers whatever comes then with this status and these headers.
    pub fn answer_with(&self, head: &str) {
        let answer = format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        self.leads.send_replace(Leads::To(answer));
    }
}

/// Answers a request without a body, and hangs up.
async fn say(mut stream: TcpStream, answer: &str) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if !matches!(stream.read_buf(&mut head).await, Ok(1..)) {
            return;
        }
    }
    // Whoever went away misses it.
    let _ = stream.write_all(answer.as_bytes()).await;
}
