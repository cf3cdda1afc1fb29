/** What one look of `check` found. */
export interface CheckLine {
  check:
    | 'key'
    | 'company'
    | 'flow'
    | 'write-back'
    | 'custom-fields'
    | 'ids'
    | 'clock'
    | 'rate-limit'
    | 'hris'
    | 'hris-fields'
    | 'employee-id'
    | 'streams'
    | 'webhooks'
    | 'state'
    | 'processes';
  state: 'ok' | 'warn' | 'fail';
  /** What was found; for a warning or a failure also the next step. */
  message: string;
}

export type Found = Omit<CheckLine, 'check'>;
