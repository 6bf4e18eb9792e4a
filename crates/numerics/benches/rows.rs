//! How near the kernels come to the memory's bandwidth, on one core and a table of the size of the CBT's
//! (p 300, five dictionaries of 54,000 words: 324 MB), in bytes per second.

use divan::{Bencher, black_box, counter::BytesCount};
use goldilocks_numerics::{Gradient, Table, Update, apply};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const ROWS: usize = 270_000;
const DIM: usize = 300;
const N: usize = 100_000;

fn main() {
    divan::main();
}

fn table() -> Table<f32> {
    Table::normal(ROWS, DIM, 0.1, &mut ChaCha8Rng::seed_from_u64(1))
}

/// Rows in random order, each about as often as any other.
fn rows() -> Vec<u32> {
    (0..N as u32).map(|n| n.wrapping_mul(2_654_435_761) % ROWS as u32).collect()
}

/// What the memory delivers: all of the table from front to back.
#[divan::bench]
fn stream(bencher: Bencher<'_, '_>) {
    let table = table();
    let rows: Vec<u32> = (0..ROWS as u32).collect();
    let mut products = Vec::with_capacity(ROWS);
    bencher.counter(BytesCount::of_many::<f32>(ROWS * DIM)).bench_local(|| {
        products.clear();
        table.dots(black_box(&rows), table.row(0), &mut products);
    });
}

#[divan::bench]
fn dots_of_random_rows(bencher: Bencher<'_, '_>) {
    let (table, rows) = (table(), rows());
    let mut products = Vec::with_capacity(N);
    bencher.counter(BytesCount::of_many::<f32>(N * DIM)).bench_local(|| {
        products.clear();
        table.dots(black_box(&rows), table.row(0), &mut products);
    });
}

/// Every update reads and writes its row.
#[divan::bench]
fn updates_of_random_rows(bencher: Bencher<'_, '_>) {
    let (mut table, rows) = (table(), rows());
    let mut gradient = Gradient::new(ROWS, DIM);
    let vector = gradient.push_vector(&[0.1; DIM]);
    rows.iter().for_each(|&row| gradient.push(Update { row, scale: 1.0, vector }));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    bencher.counter(BytesCount::of_many::<f32>(2 * N * DIM)).bench_local(|| {
        pool.install(|| apply(&mut table, black_box(-0.01), &[&gradient]));
    });
}
