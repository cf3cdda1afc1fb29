const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** What LOG_LEVEL asks for; `info` where it names no level. */
export function logLevel(): string {
  const level = process.env['LOG_LEVEL']?.toLowerCase() ?? '';
  return LEVELS.includes(level) ? level : 'info';
}

/** True where stack traces are wanted: LOG_LEVEL is debug or trace. */
export function isDebugging(): boolean {
  return ['debug', 'trace'].includes(logLevel());
}
