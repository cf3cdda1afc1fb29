const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** The level of LOG_LEVEL; `info` if it is not a level. */
export function logLevel(): string {
  const level = process.env['LOG_LEVEL']?.toLowerCase() ?? '';
  return LEVELS.includes(level) ? level : 'info';
}

/** Whether stack traces are wanted: LOG_LEVEL is debug or trace. */
export function isDebugging(): boolean {
  return ['debug', 'trace'].includes(logLevel());
}
