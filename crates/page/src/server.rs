//! Connections: a limited number at once, each with a time limit.

use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::{Error, Result};

/// What a client may use up; a slow one is cut off.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at the same time; others wait.
    pub connections: usize,
    /// Until a request's head is there, the wait for a next request included.
    pub head: Duration,
    /// Until a request's body is there.
    pub body: Duration,
    /// Until a connection is closed, idle or not; a browser then opens another.
    pub connection: Duration,
    /// Bytes of a body.
    pub body_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head: Duration::from_secs(15),
            body: Duration::from_secs(15),
            connection: Duration::from_secs(120),
            // A passage of one's own is the largest: each of its bytes may take three in a form.
            body_bytes: 4 * crate::own::LONGEST,
        }
    }
}

/// Serves until the program ends.
///
/// # Errors
/// [`Error::Listen`].
pub fn serve(listener: TcpListener, router: Router, limits: Limits) -> Result<()> {
    let address = listener.local_addr().map_or_else(|_| "?".to_owned(), |at| at.to_string());
    let failed = |reason| Error::Listen { address: address.clone(), reason };
    listener.set_nonblocking(true).map_err(failed)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        let slots = Arc::new(Semaphore::new(limits.connections));
        loop {
            let slot = Arc::clone(&slots).acquire_owned().await.expect("it is never closed");
            match listener.accept().await {
                Ok((stream, _)) => {
                    let router = router.clone();
                    tokio::spawn(async move {
                        connection(stream, router, limits).await;
                        drop(slot);
                    });
                }
                // Out of file descriptors, for example: those in use will be given back.
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    })
}

async fn connection(stream: TcpStream, router: Router, limits: Limits) {
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(64)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut serving = pin!(serving);
    // A client that breaks off or breaks the protocol is not an error of ours.
    if timeout(limits.connection, serving.as_mut()).await.is_err() {
        // The request that is being answered may end, if its client takes the answer.
        serving.as_mut().graceful_shutdown();
        let _ = timeout(limits.body, serving).await;
    }
}
