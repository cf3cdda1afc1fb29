import type { Command } from 'commander';
import { startSandbox } from '../sandbox/sandbox.ts';
import { example, integer, port } from './options.ts';
import { announce, stopSignal, whenStopped } from './part.ts';
import { defineSandboxHire } from './sandbox-hire.ts';

interface SandboxFlags {
  port: number;
  controlPort: number;
  key?: string;
  otherKey?: string;
  seed?: number;
  jobs?: number;
  candidates?: number;
  hired?: number;
  webhookUrl?: string;
  webhookKey?: string;
  state?: string;
  limit?: string;
  faults?: string;
  quirks?: string;
  clock?: 'real' | 'stepped';
}

const count = integer(0, 10_000_000);

export function defineSandbox(command: Command): void {
  command
    .description(
      'Run the partner API as a service of its own, with a control plane for what a person does in the dashboard.',
    )
    .option('--port <n>', 'port of the API, 0 takes a free one', port, 8800)
    .option('--control-port <n>', 'port of the control plane and its page, 0 takes a free one', port, 8801)
    .option('--key <key>', 'API key of the company (default: made up from the seed, printed)')
    .option('--other-key <key>', 'API key of a second company in the same sandbox')
    .option('--seed <n>', 'seed of everything made up, ids included', integer(0, 2 ** 31))
    .option('--jobs <n>', 'jobs to begin with', count)
    .option('--candidates <n>', 'candidates to begin with', count)
    .option('--hired <n>', 'people hired long ago', count)
    .option('--webhook-url <url>', 'where events are delivered')
    .option('--webhook-key <key>', 'sent as X-Webhook-Key')
    .option('--state <file>', 'keep the state in this file across restarts')
    .option(
      '--limit <kind:rate[:burst]>',
      'for each company: fixed:R or sliding:R (R x 10 calls in 10 s), token:R[:BURST] (R a second), concurrency:CALLS',
    )
    .option('--faults <file>', 'plan of faults, JSON')
    .option('--quirks <names>', 'habits other partners may have: all, or a comma list (GET /quirks explains them)')
    .addOption(
      command.createOption('--clock <kind>', 'stepped: moved by the control plane').choices(['real', 'stepped']),
    )
    .addHelpText(
      'after',
      example(
        'hirebridge sandbox --jobs 3 --candidates 40',
        'hirebridge sandbox --port 9000 --limit token:10:20 --state ./sandbox.db',
      ),
    )
    .action(runSandbox);
  defineSandboxHire(command.command('hire'));
}

async function runSandbox(flags: SandboxFlags): Promise<void> {
  const stop = stopSignal();
  const { createLogger } = await import('../log.ts');
  const log = createLogger('sandbox');
  const sandbox = await startSandbox({
    ...flags,
    onRequest: (entry) => log.info(entry, 'request'),
    onDelivery: (entry) => log.info(entry, 'delivery'),
    onDefect: (where, err) => log.error({ where, err }, 'defect of the sandbox itself'),
  });
  announce({ partner: sandbox.url, control: sandbox.controlUrl, company: String(sandbox.companyId) });
  const keys = [
    `API key        ${sandbox.key}`,
    ...(sandbox.otherKey === undefined ? [] : [`other company  ${sandbox.otherKey}`]),
  ];
  const lines = [
    `partner API    ${sandbox.url}`,
    `control plane  ${sandbox.controlUrl}  (open it in a browser)`,
    ...keys,
    'Stays until Ctrl-C.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  await whenStopped(stop);
  await sandbox.close();
}
