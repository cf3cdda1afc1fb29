/** The current work to obtain the CLI, and the number of finished packages or modules if they are counted. */
export interface CliProgress {
  doing: string;
  done?: number;
  total?: number;
}

const LINE_EVERY_MS = 10_000;
const BAR_WIDTH = 24;

/** Shows progress on standard error: a bar on a terminal; in a log, a line every ten seconds and for each new phase. */
export function showCliProgress(stream: NodeJS.WriteStream = process.stderr): (progress: CliProgress) => void {
  return stream.isTTY ? createBar(stream) : createLines((line) => void stream.write(`${line}\n`));
}

/** For a log, or for a terminal that another component draws on. */
export function createLines(write: (line: string) => void): (progress: CliProgress) => void {
  const started = performance.now();
  let next = 0;
  let phase = '';
  return (progress) => {
    const now = performance.now();
    if (progress.doing === phase && now < next) return;
    [phase, next] = [progress.doing, now + LINE_EVERY_MS];
    write(`${progress.doing}: ${[count(progress), `${Math.round((now - started) / 1000)} s`].join('')}`);
  };
}

/** Rewrites a single line; its last state stays on the screen. */
function createBar(stream: NodeJS.WriteStream): (progress: CliProgress) => void {
  let shown = false;
  return (progress) => {
    const { doing, done = 0, total } = progress;
    const filled = total === undefined ? 0 : Math.round((BAR_WIDTH * Math.min(done, total)) / total);
    const bar = total === undefined ? '' : `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} `;
    // Moves up and clears the previous line.
    stream.write(
      `${shown ? '\u001b[1A\u001b[2K' : ''}${bar}${doing}${total === undefined ? '' : `: ${count(progress)}`}\n`,
    );
    shown = true;
  };
}

function count({ done, total }: CliProgress): string {
  if (done === undefined) return '';
  return total === undefined ? `${done} so far, ` : `${done} of ${total} packages, `;
}
