/** What an open hire does now: the workflow's position and the column `hires.step`. */
export type HireStep =
  | 'enrol'
  | 're-enrol'
  | 'await-credits'
  | 'onboard'
  | 'employ'
  | 'write-back'
  | 'confirm-left'
  | 'cancel'
  | 'watch-done'
  | 'end-employment'
  | 'hand-over'
  | 'ended';
