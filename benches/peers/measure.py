"""What the peers of one network have in common: a step as a CUDA graph, and how long steps take."""

import json
import time

import torch


def options_of(parser):
    """Parses the command line with the options of all peers, and sets threads, precision and seed."""
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(1)
    return options


def captured(step):
    """The step as a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


def measure(trainer, batches, n_tokens, options):
    """Times steps on two batches in turn, which are copied into the trainer's, and prints one line of JSON."""
    step = captured(trainer.step) if options.device == "cuda" else trainer.step
    losses, started, n_steps = [], None, 0
    while started is None or time.perf_counter() - started < options.seconds:
        if n_steps == 2:
            started, busy = time.perf_counter(), time.process_time()
        for target, source in zip(trainer.batch, batches[n_steps % 2]):
            target.copy_(source)
        # The loss is read each step, as training reads it.
        losses.append(step().item())
        n_steps += 1
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    print(json.dumps({
        "peer": f"PyTorch {torch.__version__}",
        "tokens_per_second": (n_steps - 2) * n_tokens / seconds,
        "milliseconds": 1000 * seconds / (n_steps - 2),
        "processor_milliseconds": 1000 * busy / (n_steps - 2),
        "first_loss": losses[0] / n_tokens,
        "last_loss": losses[-1] / n_tokens,
    }))
