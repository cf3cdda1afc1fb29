import { createRequire } from 'node:module';
import pino from 'pino';
import type { build } from 'pino-pretty';
import { ConnectorError } from './errors.ts';
import { isDebugging, logLevel } from './log-level.ts';
import { tracedIds } from './trace.ts';

export type Logger = pino.Logger;

const REDACTED = '[redacted]';

/**
 * Field names, lower case without separators, whose values never reach a log: first secrets, then what identifies a
 * person.
 */
const HIDDEN = new Set(
  (
    'key apikey xapikey webhookkey xwebhookkey authorization cookie setcookie password secret token headers body ' +
    'payload rawbody ' +
    'email emails emailaddress workemail personalemail phone phones phonenumber mobile mobilephone ' +
    'name names firstname lastname middlename fullname givenname familyname displayname preferredname ' +
    'birthdate dateofbirth address street postalcode nationalid ssn taxid salary pay iban resume ' +
    'candidate employee person fields values'
  ).split(' '),
);
const BOUND = [
  'name',
  'firstName',
  'lastName',
  'email',
  'phone',
  'key',
  'apiKey',
  'webhookKey',
  'authorization',
  'secret',
  'token',
  'body',
  'headers',
];
const HIDDEN_ENDING = /(?:password|secret|token|apikey|webhookkey|privatekey|email|phone)$/;
const DEPTH = 6;

/** Copies a log object and masks every hidden field at any depth. Errors become code, action and message. */
function redact(value: unknown, depth = 0): unknown {
  if (value instanceof Error) return describeError(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) out[key] = isHidden(key) ? REDACTED : redact(item, depth + 1);
  return out;
}

function isHidden(key: string): boolean {
  const plain = key.toLowerCase().replaceAll(/[-_. ]/g, '');
  return HIDDEN.has(plain) || HIDDEN_ENDING.test(plain);
}

/**
 * A ConnectorError's message is safe by contract, without the other side's words. Other errors keep name, code and
 * message, but no other properties: pg puts whole rows into `detail`, undici puts headers into its errors. Stacks only
 * when debugging.
 */
function describeError(error: Error, depth = 0): Record<string, unknown> {
  const own =
    error instanceof ConnectorError
      ? { code: error.code, action: error.action, status: error.status, requestId: error.requestId }
      : { type: error.name, code: (error as { code?: unknown }).code };
  const cause = error.cause instanceof Error && depth < 4 ? { cause: describeError(error.cause, depth + 1) } : {};
  const shown = (text = ''): string => (error instanceof ConnectorError ? error.withoutWords(text) : text);
  const stack = isDebugging() ? { stack: shown(error.stack) } : {};
  return { ...own, message: shown(error.message), ...cause, ...stack };
}

/** Characters that may wait to be written; further ones are dropped. */
const MOST_UNWRITTEN = 1_000_000;

/** Pretty lines are formatted in this thread: a worker thread would lose the last lines of an ending process. */
function destination(): pino.DestinationStream {
  const format = process.env['LOG_FORMAT'] ?? (process.stderr.isTTY ? 'pretty' : 'json');
  if (format !== 'pretty') {
    const lines = pino.destination({ dest: 2, sync: true, maxLength: MOST_UNWRITTEN });
    // A full disk, or a reader that is gone, costs log lines but never the process.
    return lines.on('error', () => undefined);
  }
  // Loaded here: 40 modules that most processes never need.
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof build;
  return pretty({
    destination: 2,
    sync: true,
    colorize:
      process.env['NO_COLOR'] === undefined && (process.stderr.isTTY || process.env['FORCE_COLOR'] !== undefined),
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname,part',
    messageFormat: '{if part}{part}: {end}{msg}',
    singleLine: true,
  });
}

/** A logger on any stream; tests read what it wrote. Logs go to standard error, results to standard output. */
export function createRootLogger(to: pino.DestinationStream = destination(), level = logLevel()): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      mixin: () => tracedIds() ?? {},
      timestamp: pino.stdTimeFunctions.isoTime,
      // Pino applies no formatter to a child logger's bindings, so their hidden names are listed in the spelling used.
      redact: { paths: BOUND, censor: REDACTED },
      serializers: { err: (error: unknown) => redact(error), error: (error: unknown) => redact(error) },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redact(fields) as Record<string, unknown>,
      },
    },
    to,
  );
}

/** The process-wide logger: constant messages plus fields (tenantId, jobCandidateId, requestId, err). */
export const log: Logger = createRootLogger();

/** The process-wide logger with the name of the logging part, for example `receiver`. */
export function createLogger(part: string): Logger {
  return log.child({ part });
}
