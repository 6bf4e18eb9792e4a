//! Every operation of a device by itself, on random shapes: the CPU in f32, and the GPU in full f32, in TF32
//! and in bf16, against the CPU in f64.
//!
//! Without a GPU only the CPU is compared, and a line on stderr says so; with `GOLDILOCKS_GPU=required` that is
//! a failure.

mod gpu;

use std::any::Any;

use base::seeds::{self, Use};
use goldilocks_numerics::device::{
    Accumulate, Array, Attention, AttentionGradients, AttentionResults, Backend, Choices, Cpu,
    Device, DeviceMatrix, Groups, Halves, Layout, Lstm, NO_TARGET, OptimiserStep, Reals, RmsNorm,
    Rotation, StepSettings, Targets, Trace, bf16,
};
use goldilocks_numerics::{Real, Result};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Rounds of each operation, each with other shapes.
const ROUNDS: u64 = 12;

/// What a round draws: the same for every device.
struct Draw(ChaCha8Rng);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0.next_u32() as usize % n
    }

    /// From 1 to `n`.
    fn size(&mut self, n: usize) -> usize {
        1 + self.below(n)
    }

    /// Numbers from −2 to 2 that f32 and f64 hold exactly and TF32 rounds.
    fn numbers(&mut self, n: usize) -> Vec<f64> {
        let unit = f64::from(1 << 20);
        (0..n).map(|_| f64::from(self.0.next_u32() >> 10) / unit - 2.0).collect()
    }

    fn indices(&mut self, n: usize, below: usize) -> Vec<u32> {
        (0..n).map(|_| self.below(below) as u32).collect()
    }

    /// For each row, the first column that counts and the one after the last; some rows have none.
    fn bounds(&mut self, rows: usize, columns: usize) -> Vec<u32> {
        let pair = |draw: &mut Self| {
            let first = draw.below(columns + 1);
            [first, first + draw.below(columns - first + 1)].map(|bound| bound as u32)
        };
        (0..rows).flat_map(|_| pair(self)).collect()
    }
}

fn reals<D: Device>(device: &D, values: &[f64]) -> Result<Reals<D>> {
    let values: Vec<D::Real> = values.iter().map(|&value| D::Real::from_f64(value)).collect();
    device.upload(&values)
}

fn read<D: Device>(device: &D, array: &Reals<D>) -> Result<Vec<f64>> {
    Ok(device.read(array.all())?.into_iter().map(Real::to_f64).collect())
}

/// Numbers that a bf16 holds exactly.
fn halves<D: Backend>(device: &D, values: &[f64]) -> Result<Halves<D>> {
    let values: Vec<f64> = values.iter().map(|&value| bf16::from_f64(value).to_f64()).collect();
    let mut halves = device.zeros(values.len())?;
    device.narrow(halves.all_mut(), reals(device, &values)?.all());
    Ok(halves)
}

fn read_halves<D: Backend>(device: &D, halves: &Halves<D>) -> Result<Vec<f64>> {
    let mut values = device.zeros(halves.len())?;
    device.widen(values.all_mut(), halves.all());
    read(device, &values)
}

type Run<D> = fn(&D, &mut Draw) -> Result<Vec<f64>>;

/// An operation, or several that one case covers: how it runs on each device, and how far f32 may be from
/// f64, relative to the largest result.
struct Operation {
    names: &'static [&'static str],
    tolerance: f64,
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "only a GPU rounds"))]
    rounding: Rounding,
    exact: Run<Cpu<f64>>,
    cpu: Run<Cpu<f32>>,
    #[cfg(feature = "cuda")]
    gpu: Run<goldilocks_numerics::device::Cuda>,
}

/// What a GPU rounds.
#[derive(Clone, Copy)]
enum Rounding {
    /// Nothing.
    Full,
    /// The factors of products, to 11 significant bits where TF32 is used.
    Tf32,
    /// Halves to 8 significant bits, so by up to 2⁻⁸ = 3.9e-3: how far results may be.
    Bf16(f64),
}

use Rounding::{Bf16, Full, Tf32};

macro_rules! operations {
    ($($function:ident [$($name:literal),*] $tolerance:literal $rounding:expr),* $(,)?) => {
        fn operations() -> Vec<Operation> {
            vec![$(Operation {
                names: &[$($name),*],
                tolerance: $tolerance,
                rounding: $rounding,
                exact: $function,
                cpu: $function,
                #[cfg(feature = "cuda")]
                gpu: $function,
            }),*]
        }
    };
}

// Sums in f32 are off by about √n units in the last place, the GPU's exponentials by about two units of the
// argument.
operations! {
    memory ["zeros", "upload", "write", "read", "copy", "capture_or_replay"] 1e-6 Full,
    fill ["fill"] 1e-7 Full,
    copy_rows ["copy_rows"] 1e-7 Full,
    add ["add"] 1e-6 Full,
    multiply ["multiply"] 1e-5 Tf32,
    gather_rows ["gather_rows"] 1e-7 Full,
    scatter_add_rows ["scatter_add_rows"] 1e-6 Full,
    add_groups_of_rows ["add_groups_of_rows"] 1e-6 Full,
    sum_rows ["sum_rows"] 1e-5 Full,
    dropout ["dropout"] 1e-6 Full,
    relu_tail ["relu_tail", "relu_tail_backward"] 1e-7 Full,
    softmax_rows ["softmax_rows", "softmax_rows_backward"] 2e-5 Full,
    smooth_rows ["smooth_rows"] 1e-5 Full,
    cross_entropy ["cross_entropy"] 2e-5 Full,
    cross_entropy_in_halves ["cross_entropy_in_halves"] 2e-5 Bf16(4e-3),
    choose ["choose"] 2e-5 Full,
    log_probs ["log_probs"] 2e-5 Full,
    lstm ["lstm_forward", "lstm_backward"] 5e-5 Tf32,
    narrow ["narrow", "widen"] 1e-7 Bf16(4e-3),
    multiply_halves ["multiply_halves", "multiply_into_halves"] 1e-5 Bf16(4e-3),
    dropout_of_halves ["dropout_of_halves"] 1e-6 Bf16(4e-3),
    rms_norm ["rms_norm", "rms_norm_backward"] 1e-5 Bf16(4e-3),
    rotate ["rotate", "rotate_backward"] 1e-5 Bf16(4e-3),
    attention ["attention", "attention_backward"] 5e-5 Bf16(8e-3),
    swiglu ["swiglu", "swiglu_backward"] 1e-5 Bf16(4e-3),
    sum_of_squares ["sum_of_squares"] 1e-5 Full,
    unit_rows ["unit_rows"] 1e-5 Full,
    momentum ["momentum"] 1e-6 Full,
    sgd_step ["sgd_step"] 1e-6 Full,
    adam_step ["adam_step"] 1e-5 Full,
}

fn memory<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (n, first) = (draw.size(3000), draw.size(100));
    let from = reals(device, &draw.numbers(n))?;
    let mut into: Reals<D> = device.zeros(n + first)?;
    device.copy(into.slice_mut(first..first + n), from.all());
    let indices = device.upload(&draw.indices(n, 1000))?;
    let mut found = read(device, &into)?;
    found.extend(device.read(indices.all())?.into_iter().map(f64::from));
    // Work is done each time, whether it is captured or replayed.
    let mut graph = D::Graph::default();
    for _ in 0..4 {
        device.capture_or_replay(&mut graph, || device.add(into.slice_mut(0..n), 0.5, from.all()));
    }
    found.extend(read(device, &into)?);
    Ok(found)
}

fn fill<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let n = draw.size(5000);
    let mut array = reals(device, &draw.numbers(n))?;
    device.fill(array.slice_mut(n / 3..n), 0.25);
    read(device, &array)
}

fn copy_rows<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns) = (draw.size(40), draw.size(40));
    let strides = [columns + draw.below(5), columns + draw.below(5)];
    let [into, from] =
        strides.map(|row_stride| Layout { row_stride, ..Layout::batch(1, rows, columns) });
    let mut array = reals(device, &draw.numbers(rows * strides[0]))?;
    let other = reals(device, &draw.numbers(rows * strides[1]))?;
    device.copy_rows(array.all_mut().laid_out(into), other.all().laid_out(from));
    read(device, &array)
}

fn add<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let n = draw.size(5000);
    let mut array = reals(device, &draw.numbers(n))?;
    let other = reals(device, &draw.numbers(n))?;
    device.add(array.all_mut(), -0.75, other.all());
    read(device, &array)
}

/// One product or a batch, each factor transposed or not, added or not.
fn multiply<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let [m, k, n] = [(); 3].map(|()| draw.size(70));
    let batch = draw.size(3);
    let accumulate = Accumulate { alpha: 0.5, beta: [0.0, 1.0, 0.25][draw.below(3)] };
    let mut factor = |rows: usize, columns: usize| -> Result<_> {
        let is_transposed = draw.below(2) == 1;
        let [rows, columns] = if is_transposed { [columns, rows] } else { [rows, columns] };
        let values = reals(device, &draw.numbers(batch * rows * columns))?;
        Ok((values, Layout::batch(batch, rows, columns), is_transposed))
    };
    let ((left, left_layout, left_transposed), (right, right_layout, right_transposed)) =
        (factor(m, k)?, factor(k, n)?);
    let (mut left, mut right) =
        (left.all().laid_out(left_layout), right.all().laid_out(right_layout));
    if left_transposed {
        left = left.transposed();
    }
    if right_transposed {
        right = right.transposed();
    }
    let mut into = reals(device, &draw.numbers(batch * m * n))?;
    let target = into.all_mut().laid_out(Layout::batch(batch, m, n));
    device.multiply(target, accumulate, left, right);
    read(device, &into)
}

fn gather_rows<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (n, rows, dim) = (draw.size(300), draw.size(50), draw.size(70));
    let table = reals(device, &draw.numbers(rows * dim))?;
    let chosen = device.upload(&draw.indices(n, rows))?;
    let mut into: Reals<D> = device.zeros(n * dim)?;
    device.gather_rows(into.all_mut(), table.all(), chosen.all());
    read(device, &into)
}

fn scatter_add_rows<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (n, rows, dim) = (draw.size(300), draw.size(50), draw.size(70));
    let mut table = reals(device, &draw.numbers(rows * dim))?;
    let chosen = device.upload(&draw.indices(n, rows))?;
    let from = reals(device, &draw.numbers(n * dim))?;
    device.scatter_add_rows(table.all_mut(), chosen.all(), from.all());
    read(device, &table)
}

fn add_groups_of_rows<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (n, rows, dim) = (draw.size(300), draw.size(50), draw.size(700));
    let mut table = reals(device, &draw.numbers(rows * dim))?;
    let mut starts = draw.indices(rows + 1, n + 1);
    starts.sort_unstable();
    (starts[0], starts[rows]) = (0, n as u32);
    let (starts, order) = (device.upload(&starts)?, device.upload(&draw.indices(n, n))?);
    let from = reals(device, &draw.numbers(n * dim))?;
    let groups = Groups { starts: starts.all(), order: order.all() };
    device.add_groups_of_rows(table.all_mut(), groups, from.all());
    read(device, &table)
}

fn sum_rows<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns) = (draw.size(500), draw.size(300));
    let layout = Layout { row_stride: columns + draw.below(5), ..Layout::batch(1, rows, columns) };
    let beta = [0.0, 1.0, 0.5][draw.below(3)];
    let mut into = reals(device, &draw.numbers(columns))?;
    let from = reals(device, &draw.numbers(rows * layout.row_stride))?;
    device.sum_rows(into.all_mut(), beta, from.all().laid_out(layout));
    read(device, &into)
}

/// Texts of several lengths, some of which are missing, and a question that is not there.
fn choose<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (texts, n_questions) = (1 + draw.size(12), draw.size(9));
    let (mut questions, mut n) = (Vec::new(), draw.below(20));
    for _ in 0..n_questions {
        let answer = draw.below(texts);
        questions.push(answer as u32);
        for text in 0..texts {
            let first = n + draw.below(3);
            n = first + if text == answer { draw.size(70) } else { draw.below(70) };
            questions.extend([first, n].map(|place| place as u32));
        }
    }
    questions[0] = NO_TARGET;
    let mut weights = reals(device, &draw.numbers(n))?;
    let log_probs: Vec<f64> = draw.numbers(n).iter().map(|x| 0.05 * (x - 2.0)).collect();
    let log_probs = reals(device, &log_probs)?;
    let mut losses: Reals<D> = device.zeros(n_questions)?;
    let questions = device.upload(&questions)?;
    let choices = Choices { questions: questions.all(), texts, scale: 0.7, share: 0.3 };
    device.choose(weights.all_mut(), losses.all_mut(), log_probs.all(), choices);
    Ok([read(device, &weights)?, read(device, &losses)?].concat())
}

fn dropout<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let n = draw.size(70_000);
    let mut values = reals(device, &draw.numbers(n))?;
    let key = device.upload(&[draw.0.next_u32(), draw.0.next_u32()])?;
    device.dropout(values.all_mut(), 0.3, key.all(), draw.0.next_u32() % 4);
    read(device, &values)
}

fn relu_tail<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns) = (draw.size(100), draw.size(100));
    let first = draw.below(columns);
    let mut values = reals(device, &draw.numbers(rows * columns))?;
    let mut gradient = reals(device, &draw.numbers(rows * columns))?;
    device.relu_tail(values.all_mut(), columns, first);
    device.relu_tail_backward(gradient.all_mut(), values.all(), columns, first);
    Ok([read(device, &values)?, read(device, &gradient)?].concat())
}

fn softmax_rows<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns) = (draw.size(60), draw.size(400));
    let mut scores = reals(device, &draw.numbers(rows * columns))?;
    let mut gradient = reals(device, &draw.numbers(rows * columns))?;
    let bounds = device.upload(&draw.bounds(rows, columns))?;
    device.softmax_rows(scores.all_mut(), bounds.all());
    device.softmax_rows_backward(gradient.all_mut(), scores.all(), columns);
    Ok([read(device, &scores)?, read(device, &gradient)?].concat())
}

fn smooth_rows<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns, reach) = (draw.size(60), draw.size(200), draw.below(5));
    let from = reals(device, &draw.numbers(rows * columns))?;
    let mut into = reals(device, &draw.numbers(rows * columns))?;
    let bounds = device.upload(&draw.bounds(rows, columns))?;
    device.smooth_rows(into.all_mut(), from.all(), bounds.all(), reach);
    read(device, &into)
}

/// Scores with padding between the rows, and targets that are missing.
fn cross_entropy<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns) = (draw.size(30), draw.size(3000));
    let layout = Layout { row_stride: columns + draw.below(9), ..Layout::batch(1, rows, columns) };
    let mut scores = reals(device, &draw.numbers(rows * layout.row_stride))?;
    let bias = reals(device, &draw.numbers(columns))?;
    let mut targets = draw.indices(rows, columns);
    targets.iter_mut().step_by(5).for_each(|target| *target = NO_TARGET);
    let targets = device.upload(&targets)?;
    let mut losses: Reals<D> = device.zeros(rows)?;
    let scored = Targets { columns: targets.all(), scale: 0.5 };
    let into = scores.all_mut().laid_out(layout);
    device.cross_entropy(into, bias.all(), scored, losses.all_mut());
    let found = read(device, &scores)?;
    let within = found.chunks(layout.row_stride).flat_map(|row| row[..columns].to_vec());
    Ok(within.chain(read(device, &losses)?).collect())
}

/// Rows of the gradient that are as far apart as those of the scores, or not; with factors, or without.
fn cross_entropy_in_halves<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns) = (draw.size(30), [draw.size(3000), 4 * draw.size(700)][draw.below(2)]);
    let mut layout = || {
        let row_stride = columns + 4 * draw.below(3);
        Layout { row_stride, batch_stride: 0, ..Layout::batch(1, rows, columns) }
    };
    let (layout, into) = (layout(), layout());
    let scores = reals(device, &draw.numbers(rows * layout.row_stride))?;
    let mut targets = draw.indices(rows, columns);
    targets.iter_mut().step_by(5).for_each(|target| *target = NO_TARGET);
    let targets = device.upload(&targets)?;
    let factors = reals(device, &draw.numbers(rows))?;
    let factors = (draw.below(2) == 1).then(|| factors.all());
    let mut losses: Reals<D> = device.zeros(rows)?;
    let mut gradient: Halves<D> = device.zeros(rows * into.row_stride)?;
    let scored = Targets { columns: targets.all(), scale: 0.5 };
    let (place, from) = (gradient.all_mut().laid_out(into), scores.all().laid_out(layout));
    device.cross_entropy_in_halves(place, from, (scored, factors), losses.all_mut());
    let found = read_halves(device, &gradient)?;
    let within = found.chunks(into.row_stride).flat_map(|row| row[..columns].to_vec());
    let mut found: Vec<f64> = within.collect();
    // Of the size of a gradient.
    found.extend(read(device, &losses)?.iter().map(|loss| loss / 20.0));
    Ok(found)
}

fn log_probs<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns, k) = (draw.size(30), draw.size(3000), draw.size(12));
    let layout = Layout { row_stride: columns + draw.below(9), ..Layout::batch(1, rows, columns) };
    let scores = reals(device, &draw.numbers(rows * layout.row_stride))?;
    let bias = reals(device, &draw.numbers(columns))?;
    let mut chosen = draw.indices(rows * k, columns);
    chosen.iter_mut().step_by(7).for_each(|column| *column = NO_TARGET);
    let chosen = device.upload(&chosen)?;
    let mut into: Reals<D> = device.zeros(rows * k)?;
    device.log_probs(into.all_mut(), scores.all().laid_out(layout), bias.all(), chosen.all());
    read(device, &into)
}

/// Units that suit tensor cores and units that do not, few streams and many.
fn lstm<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (steps, streams) = (draw.size(6), [draw.size(20), 130 + draw.below(9)][draw.below(2)]);
    let units = [16 * draw.size(4), draw.size(40)][draw.below(2)];
    let state = streams * units;
    let small = |draw: &mut Draw, n: usize| -> Vec<f64> {
        draw.numbers(n).iter().map(|value| value / 4.0).collect()
    };
    let recurrent = reals(device, &small(draw, 4 * units * units))?;
    let bias = reals(device, &draw.numbers(4 * units))?;
    let keep: Vec<f64> =
        (0..steps * streams).map(|_| f64::from(u8::from(draw.below(4) > 0))).collect();
    let keep = reals(device, &keep)?;
    let mut trace = Trace::new(|len| device.zeros(len), steps, streams, units)?;
    trace.gates = reals(device, &draw.numbers(4 * steps * state))?;
    let first: [Reals<D>; 2] =
        [reals(device, &draw.numbers(state))?, reals(device, &small(draw, state))?];
    device.copy(trace.cells.slice_mut(0..state), first[0].all());
    device.copy(trace.hiddens.slice_mut(0..state), first[1].all());
    let above = reals(device, &draw.numbers(steps * state))?;
    let (recurrent, bias, keep) = (recurrent.all(), bias.all(), keep.all());
    let lstm = Lstm { steps, streams, units, recurrent, bias, keep };
    device.lstm_forward(lstm, &mut trace);
    let mut found = Vec::new();
    for array in [&trace.outputs, &trace.cells, &trace.hiddens, &trace.gates] {
        found.extend(read(device, array)?);
    }
    device.lstm_backward(lstm, above.all(), &mut trace);
    found.extend(read(device, &trace.gates)?);
    Ok(found)
}

/// Any bits that are a finite number, among them ties and subnormal numbers, to bf16 and back.
fn narrow<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let n = draw.size(5000);
    let number = |draw: &mut Draw| {
        let bits = draw.0.next_u32() & [u32::MAX, 0xffff_8000, 0x807f_ffff][draw.below(3)];
        // A bf16 has the exponents of an f32; the largest numbers round to infinity.
        Some(f32::from_bits(bits)).filter(|value| value.abs() < 1e38).unwrap_or(1.5)
    };
    let values: Vec<f32> = (0..n).map(|_| number(draw)).collect();
    let from = reals(device, &values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>())?;
    let (mut half, mut back): (Halves<D>, Reals<D>) = (device.zeros(n)?, device.zeros(n)?);
    device.narrow(half.all_mut(), from.all());
    device.widen(back.all_mut(), half.all());
    let found = device.read(half.all())?;
    if let Some(found) = (&found as &dyn Any).downcast_ref::<Vec<bf16>>() {
        let expected: Vec<bf16> = values.iter().map(|&value| bf16::from_f32(value)).collect();
        assert_eq!(found, &expected, "rounded to the nearest, ties to even");
    }
    read(device, &back)
}

/// A product of each kind, each factor transposed or not, added or not.
fn multiply_halves<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let [m, k, n] = [(); 3].map(|()| draw.size(70));
    let accumulate = Accumulate { alpha: 0.5, beta: [0.0, 1.0, 0.25][draw.below(3)] };
    let (left, right) =
        (halves(device, &draw.numbers(m * k))?, halves(device, &draw.numbers(k * n))?);
    let mut factor = |array, rows, columns| -> DeviceMatrix<'_, Halves<D>> {
        let array: &Halves<D> = array;
        match draw.below(2) {
            0 => array.all().laid_out(Layout::batch(1, rows, columns)),
            _ => array.all().laid_out(Layout::batch(1, columns, rows)).transposed(),
        }
    };
    let (left, right) = (factor(&left, m, k), factor(&right, k, n));
    let mut into = reals(device, &draw.numbers(m * n))?;
    let mut rounded = halves(device, &draw.numbers(m * n))?;
    device.multiply_halves(into.all_mut().rows_of(n), accumulate, left, right);
    device.multiply_into_halves(rounded.all_mut().rows_of(n), accumulate, left, right);
    Ok([read(device, &into)?, read_halves(device, &rounded)?].concat())
}

fn dropout_of_halves<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let n = draw.size(70_000);
    let mut values = halves(device, &draw.numbers(n))?;
    let key = device.upload(&[draw.0.next_u32(), draw.0.next_u32()])?;
    device.dropout_of_halves(values.all_mut(), 0.3, key.all(), draw.0.next_u32() % 4);
    read_halves(device, &values)
}

/// Columns that are read one by one and four at a time.
fn rms_norm<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns) = (draw.size(300), [draw.size(40), 4 * draw.size(500)][draw.below(2)]);
    let n = rows * columns;
    let (from, above) = (reals(device, &draw.numbers(n))?, halves(device, &draw.numbers(n))?);
    let scale = reals(device, &draw.numbers(columns))?;
    let [mut normed, mut rounded]: [Halves<D>; 2] = [device.zeros(n)?, device.zeros(n)?];
    let norm = || RmsNorm { from: from.all(), scale: scale.all() };
    let mut copy: Reals<D> = device.zeros(n)?;
    device.rms_norm(normed.all_mut(), (draw.below(2) == 1).then(|| copy.all_mut()), norm());
    let mut found = read_halves(device, &normed)?;
    found.extend(read(device, &copy)?);
    let (mut into, mut of_scale) = (reals(device, &draw.numbers(n))?, device.zeros(columns)?);
    let place = (into.all_mut(), rounded.all_mut());
    device.rms_norm_backward(place, of_scale.all_mut(), norm(), above.all());
    found.extend(read_halves(device, &rounded)?);
    found.extend(read(device, &into)?);
    // Sums of as many numbers as there are rows.
    found.extend(read(device, &of_scale)?.into_iter().map(|sum| sum / rows as f64));
    Ok(found)
}

/// With norms and without them.
fn rotate<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (positions, dim, heads) = (draw.size(30), 2 * draw.size(70), draw.size(6));
    let (places, width) = (positions * draw.size(5), heads * dim);
    let angles = reals(device, &draw.numbers(positions * dim))?;
    let from = halves(device, &draw.numbers(3 * places * width))?;
    let scales = reals(device, &draw.numbers(2 * dim))?;
    let scales = (draw.below(3) > 0).then(|| scales.all());
    let rotation = Rotation { from: from.all(), scales, angles: angles.all(), heads, dim };
    let mut turned: Halves<D> = device.zeros(2 * places * width)?;
    device.rotate(turned.all_mut(), rotation);
    let above = halves(device, &draw.numbers(2 * places * width))?;
    let mut into = halves(device, &draw.numbers(3 * places * width))?;
    let mut of_scales: Reals<D> = device.zeros(2 * dim)?;
    let place = scales.map(|_| of_scales.all_mut());
    device.rotate_backward(into.all_mut(), place, rotation, above.all());
    let mut found = read_halves(device, &turned)?;
    found.extend(read_halves(device, &into)?);
    // Sums of as many numbers as there are queries.
    found.extend(read(device, &of_scales)?.into_iter().map(|sum| sum / (places * heads) as f64));
    Ok(found)
}

/// What each place of a row reads: `first ≤ trunk ≤ start ≤` the place.
fn seen(draw: &mut Draw, rows: usize, length: usize) -> Vec<u32> {
    let of_place = |place: usize| {
        // Many places read little: then whole tiles are left out.
        let start = if draw.below(2) == 1 { place } else { draw.below(place + 1) };
        let trunk = draw.below(start + 1);
        [draw.below(trunk + 1), trunk, start].map(|bound| bound as u32)
    };
    (0..rows).flat_map(|_| 0..length).flat_map(of_place).collect()
}

/// Rows that are no multiples of tiles, narrow and wide heads, values next to other columns, and bounds or none.
fn attention<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, length, heads) = (draw.size(3), draw.size(150), draw.size(3));
    let dim = 2 * draw.size(64);
    let (n, width, stride) = (rows * length, heads * dim, heads * dim + 2 * draw.size(9));
    // Scores of a few units: a softmax of scores far apart would be one weight of 1.
    let mut numbers = |n: usize, factor: f64| -> Vec<f64> {
        draw.numbers(n).into_iter().map(|x| factor * x).collect()
    };
    let pairs = halves(device, &numbers(2 * n * width, 0.7))?;
    let values = halves(device, &numbers(n * stride, 1.0))?;
    let gradient = halves(device, &numbers(n * width, 1.0))?;
    let layout =
        Layout { rows: n, columns: width, row_stride: stride, batch: 1, batch_stride: n * stride };
    let mut read: Halves<D> = device.zeros(n * width)?;
    let [mut log_sums, mut deltas]: [Reals<D>; 2] =
        [device.zeros(n * heads)?, device.zeros(n * heads)?];
    let of_values = values.all().laid_out(layout);
    let bounds = device.upload(&seen(draw, rows, length))?;
    let bounds = (draw.below(2) == 1).then(|| bounds.all());
    let queries_and_keys = pairs.all();
    let attention = Attention { queries_and_keys, values: of_values, length, heads, bounds };
    device.attention(read.all_mut(), log_sums.all_mut(), attention);
    let mut found = read_halves(device, &read)?;
    found.extend(self::read(device, &log_sums)?);
    // As if dropout had kept half of the numbers, and all of these.
    let twice: Vec<f64> = found[..n * width].iter().map(|x| 2.0 * x).collect();
    let kept = halves(device, &twice)?;
    let results = AttentionResults {
        read: kept.all(),
        kept: 0.5,
        log_sums: log_sums.all(),
        gradient: gradient.all(),
    };
    let [mut of_pairs, mut of_values]: [Halves<D>; 2] =
        [device.zeros(2 * n * width)?, device.zeros(n * stride)?];
    let into = AttentionGradients {
        queries_and_keys: of_pairs.all_mut(),
        values: of_values.all_mut().laid_out(layout),
        deltas: deltas.all_mut(),
    };
    device.attention_backward(into, attention, results);
    found.extend(read_halves(device, &of_pairs)?);
    found.extend(read_halves(device, &of_values)?);
    Ok(found)
}

fn swiglu<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns) = (draw.size(300), [draw.size(600), 4 * draw.size(150)][draw.below(2)]);
    let from = halves(device, &draw.numbers(2 * rows * columns))?;
    let above = halves(device, &draw.numbers(rows * columns))?;
    let [mut into, mut gradient]: [Halves<D>; 2] =
        [device.zeros(rows * columns)?, device.zeros(2 * rows * columns)?];
    device.swiglu(into.all_mut(), from.all(), columns);
    device.swiglu_backward(gradient.all_mut(), from.all(), above.all(), columns);
    Ok([read_halves(device, &into)?, read_halves(device, &gradient)?].concat())
}

fn sum_of_squares<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let n = draw.size(70_000);
    let from = reals(device, &draw.numbers(n))?;
    let mut into: Reals<D> = device.zeros(3)?;
    device.sum_of_squares(into.slice_mut(1..2), from.all());
    read(device, &into)
}

/// One of the rows is 0 and stays.
fn unit_rows<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let (rows, columns) = (draw.size(5), draw.size(40_000));
    let mut numbers = draw.numbers(rows * columns);
    numbers[..columns].fill(0.0);
    let mut values = reals(device, &numbers)?;
    device.unit_rows(values.all_mut(), columns);
    read(device, &values)
}

fn momentum<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let n = draw.size(5000);
    let (mut values, mut momentum): (Reals<D>, _) =
        (device.zeros(n)?, reals(device, &draw.numbers(n))?);
    let gradient = reals(device, &draw.numbers(n))?;
    let settings = device.upload::<D::Real>(&settings(draw).encode())?;
    let (gradient, settings) = (gradient.all(), settings.all());
    let step = OptimiserStep { values: values.all_mut(), gradient, settings };
    device.momentum(step, momentum.all_mut());
    Ok([read(device, &values)?, read(device, &momentum)?].concat())
}

/// A gradient that is clipped, or is not.
fn settings(draw: &mut Draw) -> StepSettings {
    StepSettings {
        square: 25.0,
        rate: 0.25,
        clip: [2.5, 100.0][draw.below(2)],
        beta_1: 0.875,
        beta_2: 0.96875,
        epsilon: 1.0 / 1024.0,
        decay: 0.0625,
        unbias_1: 0.125,
        unbias_2: 0.03125,
    }
}

fn sgd_step<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let n = draw.size(5000);
    let mut values = reals(device, &draw.numbers(n))?;
    let gradient = reals(device, &draw.numbers(n))?;
    let settings = device.upload::<D::Real>(&settings(draw).encode())?;
    device.sgd_step(OptimiserStep {
        values: values.all_mut(),
        gradient: gradient.all(),
        settings: settings.all(),
    });
    read(device, &values)
}

fn adam_step<D: Backend>(device: &D, draw: &mut Draw) -> Result<Vec<f64>> {
    let n = draw.size(5000);
    let mut values = reals(device, &draw.numbers(n))?;
    let gradient = reals(device, &draw.numbers(n))?;
    let mut moments = draw.numbers(2 * n);
    moments[n..].iter_mut().for_each(|second| *second = second.abs());
    let mut moments = reals(device, &moments)?;
    let settings = device.upload::<D::Real>(&settings(draw).encode())?;
    let (gradient, settings) = (gradient.all(), settings.all());
    let step = OptimiserStep { values: values.all_mut(), gradient, settings };
    device.adam_step(step, moments.all_mut());
    Ok([read(device, &values)?, read(device, &moments)?].concat())
}

fn draw(operation: &Operation, round: u64) -> Draw {
    Draw(seeds::generator(round, Use::Test, operation.names))
}

/// The larger of two errors, or NaN if one is: `f64::max` would drop it.
fn larger(a: f64, b: f64) -> f64 {
    if b <= a { a } else { b }
}

/// The greatest difference of two lists, relative to the largest number.
fn difference(expected: &[f64], found: &[f64]) -> f64 {
    assert_eq!(expected.len(), found.len());
    let largest = expected.iter().fold(1e-30, |largest: f64, value| largest.max(value.abs()));
    expected.iter().zip(found).map(|(a, b)| (a - b).abs() / largest).fold(0.0, larger)
}

/// The greatest difference over all rounds of an operation.
fn worst<D>(operation: &Operation, device: &D, run: Run<D>) -> f64 {
    let of_round = |round| {
        let exact = (operation.exact)(&Cpu::default(), &mut draw(operation, round))
            .expect("the CPU does not fail");
        assert!(exact.iter().all(|value| value.is_finite()), "{:?}", operation.names);
        difference(
            &exact,
            &run(device, &mut draw(operation, round)).expect("the device does not fail"),
        )
    };
    (0..ROUNDS).map(of_round).fold(0.0, larger)
}

#[test]
fn the_cpu_in_f32_computes_what_it_computes_in_f64() {
    let compare = |operation: &Operation| {
        let found = worst(operation, &Cpu::<f32>::default(), operation.cpu);
        let is_close = found <= operation.tolerance;
        (!is_close).then(|| format!("{:?}: {found:.1e}", operation.names))
    };
    let failures: Vec<String> = operations().iter().filter_map(compare).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Every method of the traits has a case here.
#[test]
fn every_operation_is_compared() {
    let sources =
        [include_str!("../src/device/operations.rs"), include_str!("../src/device/mod.rs")];
    let methods = sources.iter().flat_map(|source| {
        let traits = source.split("pub trait ").skip(1).filter(|text| !text.starts_with("Backend"));
        traits.flat_map(|text| text.split("\n}\n").next().unwrap().split("\n    fn ").skip(1))
    });
    let mut declared: Vec<&str> =
        methods.map(|text| text.split(['(', '<']).next().unwrap()).collect();
    let mut compared: Vec<&str> =
        operations().iter().flat_map(|operation| operation.names.to_vec()).collect();
    declared.sort_unstable();
    compared.sort_unstable();
    assert_eq!(compared, declared);
}

/// TF32 rounds each factor to 11 significant bits, so a product of numbers up to 2 is off by up to 2 · 2⁻¹¹
/// of its size, and the gates of an LSTM carry that on.
#[cfg(feature = "cuda")]
const TF32: f64 = 4e-3;

const GPU_TEST: &str = "the_gpu_computes_what_the_cpu_computes";

#[cfg(not(feature = "cuda"))]
#[test]
fn the_gpu_computes_what_the_cpu_computes() {
    gpu::or_skip::<(), _>(GPU_TEST, Err("built without the feature `cuda`"));
}

/// Here without a GPU, whether the machine has one or not.
#[test]
fn a_gpu_test_that_does_not_run_says_so_and_fails_where_a_gpu_is_required() {
    let run = |required: &str| {
        let program = std::env::current_exe().unwrap();
        std::process::Command::new(program)
            .args(["--exact", GPU_TEST])
            .env("CUDA_VISIBLE_DEVICES", "")
            .env("GOLDILOCKS_GPU", required)
            .output()
            .unwrap()
    };
    let skipped = run("");
    let lines = String::from_utf8(skipped.stderr).unwrap();
    let is_said = lines.lines().any(|line| line.starts_with("GPU TEST DID NOT RUN: the_gpu_"));
    assert!(skipped.status.success() && is_said, "{lines}");
    assert!(!run("required").status.success());
}

#[cfg(feature = "cuda")]
#[test]
fn the_gpu_computes_what_the_cpu_computes() {
    let cuda = goldilocks_numerics::device::Cuda::open();
    let Some(cuda) = gpu::or_skip(GPU_TEST, cuda) else { return };
    let (full, mut failures) = (cuda.with_full_precision(), Vec::new());
    for operation in &operations() {
        let exact = worst(operation, &full, operation.gpu);
        let fast = worst(operation, &cuda, operation.gpu);
        let found = format!("{:?}: {exact:.1e}, on tensor cores {fast:.1e}", operation.names);
        println!("{}: {found}", cuda.name());
        let [of_exact, of_fast] = match operation.rounding {
            Full => [operation.tolerance; 2],
            Tf32 => [operation.tolerance, TF32],
            Bf16(tolerance) => [tolerance; 2],
        };
        if !(exact <= of_exact && fast <= of_fast) {
            failures.push(found);
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
