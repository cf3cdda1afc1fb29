import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';

/**
 * Run as a process of its own by the tests that kill it, or need two at once. One line of JSON when done, then it
 * stays.
 */
const verbs: Record<string, (argument: string) => Promise<object>> = {
  resolve: (downloadFrom) => resolveTemporalCli({ downloadFrom, onProgress: showCliProgress() }),
  serve: (cliPath) => startDevServer({ cliPath, headless: true }),
};

const [verb = '', argument = ''] = process.argv.slice(2);
const answer = await verbs[verb]?.(argument);
process.stdout.write(`${JSON.stringify(answer)}\n`);
if (verb === 'serve') setInterval(() => undefined, 60_000);
