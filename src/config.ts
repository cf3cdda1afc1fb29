import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { rejected } from './errors.ts';
import { nearest } from './in-words.ts';
import { DATA_DIR, storeIn, TENANTS_DIR } from './places.ts';

/** `Number` would read an empty text as 0, and a receiver would listen on a free port that nobody knows. */
const whole = (least: number, most: number) =>
  z.preprocess(
    (text) => (typeof text === 'string' && /^\s*\d+\s*$/.test(text) ? Number(text) : text),
    z.number('expected a whole number').min(least).max(most),
  );
const port = whole(0, 65_535);
const milliseconds = whole(1, Number.MAX_SAFE_INTEGER);
const flag = z
  .enum(['1', 'true', 'yes', '0', 'false', 'no', ''])
  .transform((text) => ['1', 'true', 'yes'].includes(text));

/**
 * The process environment, parsed once. TEMPORAL_* belongs to Temporal's own environment configuration
 * (src/temporal/connection.ts), and LOG_LEVEL and LOG_FORMAT to src/log.ts, which must work before everything else.
 */
export const Config = z.object({
  HIREBRIDGE_TENANTS: z.string().min(1).default(TENANTS_DIR).describe('Directory of tenant files.'),
  HIREBRIDGE_DATA: z
    .string()
    .min(1)
    .default(DATA_DIR)
    .describe('Directory of everything this installation keeps on this machine.'),
  HIREBRIDGE_STORE_URL: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Postgres URL of a fleet's store, or `file:PATH` of a file with it; without it, SQLite in the data directory.",
    ),
  HIREBRIDGE_SECRETS: z
    .string()
    .min(1)
    .transform((path) => resolve(path))
    .optional()
    .describe(
      "Folder of the tenants' secrets: each tenant file may then name files under its own name there and variables " +
        'that begin with it, and nothing else.',
    ),
  HIREBRIDGE_KEYS: z
    .string()
    .min(1)
    .optional()
    .describe(
      "File with the keys that encrypt people's values and Temporal's payloads, `file:PATH`; the same for " +
        'worker, console and commands. Without it nothing is encrypted.',
    ),
  HIREBRIDGE_HOST: z.string().min(1).default('127.0.0.1').describe('Address that the receiver listens on.'),
  HIREBRIDGE_PORT: port.default(8787).describe('Port where webhooks arrive.'),
  HIREBRIDGE_SERVE_HEALTH_PORT: port
    .default(8788)
    .describe('Port of health and metrics of `serve`; 0 takes a free port.'),
  HIREBRIDGE_WORKER_HEALTH_PORT: port
    .default(8789)
    .describe('Port of health and metrics of `worker`; 0 takes a free one.'),
  HIREBRIDGE_HEALTH_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address of health and metrics; 0.0.0.0 in a container, behind a network policy.'),
  HIREBRIDGE_CONSOLE_PORT: port.default(8790).describe("Port of the operator's pages."),
  HIREBRIDGE_CONSOLE_TOKEN: z
    .string()
    .regex(/^(?:env|file):./, 'expected env:NAME or file:PATH, which say where the token is, not the token')
    .optional()
    .describe('Where the token of the console is, `env:NAME` or `file:PATH`; without it each start makes a new one.'),
  HIREBRIDGE_TEMPORAL_UI: z
    .url()
    .optional()
    .describe(
      "Address of Temporal's own pages with its namespace, http://127.0.0.1:8233/namespaces/default; the console " +
        'then links each hire to its workflow. `up` sets it.',
    ),
  HIREBRIDGE_METRICS_BY_TENANT: flag
    .default(false)
    .describe("Splits calls, hires and rate limits by tenant in the worker's metrics: thirty or more series a tenant."),
  HIREBRIDGE_REUSE_PORT: flag
    .default(false)
    .describe('Lets a second receiver listen on the same port (Linux), so that a new one takes over without a gap.'),
  HIREBRIDGE_MAX_WEBHOOK_BYTES: whole(1024, Number.MAX_SAFE_INTEGER)
    .default(1_000_000)
    .describe('Largest webhook body accepted, bytes.'),
  HIREBRIDGE_GIVE_UP_MS: milliseconds
    .default(30_000)
    .describe(
      'How long after an intent its request may still be sent, ms; where it is longer than 30 s, a search in an HR ' +
        'system may take as long, in hires that begin from then on.',
    ),
  HIREBRIDGE_REQUEST_MS: milliseconds
    .default(10_000)
    .describe('Bound of one request to the partner, ms; well below the give-up time.'),
  HIREBRIDGE_PARTNER_LAG_MS: milliseconds
    .default(2_000)
    .describe('How long after the give-up time the partner may still show a write late, ms.'),
  HIREBRIDGE_HEARTBEAT_MS: milliseconds
    .default(4_000)
    .describe('How long a worker may hang before its activities move to another, ms.'),
  HIREBRIDGE_RETRY_MS: milliseconds.default(1_000).describe('First wait before an activity is tried again, ms.'),
  HIREBRIDGE_STICKY_MS: milliseconds
    .default(2_000)
    .describe("How long a dead worker's cached workflows wait before another takes them, ms."),
  HIREBRIDGE_PAUSED_MS: milliseconds
    .default(15_000)
    .describe('How long a paused tenant waits before its key is tried again, ms.'),
  HIREBRIDGE_BUNDLE_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Where the workflows\' bundle is cached, so that data directories may share it; "cache" in each without it.',
    ),
  HIREBRIDGE_BUILD_ID: z
    .string()
    .regex(/^[\w.+-]{1,100}$/)
    .optional()
    .describe(
      "This worker's version in Temporal's Worker Deployment of the installation: it takes no work until " +
        '`hirebridge rollout` sends some there. Without it, a worker takes any work.',
    ),
  /** For tests: the process kills itself at this point; see src/failpoint.ts. */
  HIREBRIDGE_FAILPOINT_KILL: z.string().optional(),
  /** For tests: the process stops itself at this point, until SIGCONT. */
  HIREBRIDGE_FAILPOINT_STOP: z.string().optional(),
  /** For tests: every point passed is written to this file. */
  HIREBRIDGE_FAILPOINT_LIST: z.string().optional(),
});
export type Config = z.infer<typeof Config>;

export type { Places } from './places.ts';

/** Reads the environment. The error for an invalid value names the variable, not the value. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const parsed = Config.safeParse(env);
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  throw rejected(
    'CONFIG_INVALID',
    `The environment holds an invalid value (${wrong}). Correct the variable, or unset it to use the default.`,
  );
}

/** Variables that hirebridge sets for processes it starts, or that name where Temporal's CLI is kept. */
const OTHERS = ['HIREBRIDGE_SUPERVISED', 'HIREBRIDGE_UP_CONSOLE_TOKEN', 'HIREBRIDGE_CACHE_DIR'];

/** What to say of each variable that is nearly named like one of ours: it has no effect, and nothing else tells. */
export function misspeltSettings(): string[] {
  const known = [...Object.keys(Config.shape), ...OTHERS];
  return Object.keys(process.env).flatMap((name) => {
    const [, end] = /^HIREBRIDGE_(.+)$/.exec(name) ?? [];
    if (end === undefined || known.includes(name)) return [];
    const meant = nearest(
      end,
      known.map((one) => one.slice('HIREBRIDGE_'.length)),
    );
    return meant === undefined
      ? []
      : [`${name} is ignored: no setting has this name. Did you mean "HIREBRIDGE_${meant}"?`];
  });
}

/** The store's address: the fleet's Postgres, or SQLite in the data directory. */
export function storeUrl(dataDir: string, config: Config = readConfig()): string {
  return storeIn(dataDir, config.HIREBRIDGE_STORE_URL);
}

/** The file of a store on this machine; undefined if the store is a server. */
export function storeFile(dataDir: string): string | undefined {
  const url = storeUrl(dataDir);
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined;
}

/** False if the store is a file that does not exist yet; a server may or may not have tables. */
export function storeExists(dataDir: string): boolean {
  const file = storeFile(dataDir);
  return file === undefined || existsSync(file);
}
