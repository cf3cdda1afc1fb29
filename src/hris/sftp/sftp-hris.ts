import type { SftpOptions } from './options.ts';
import type { ReadyFiles } from './ready-files.ts';
import type { SftpSession } from './session.ts';

/** One customer's folders, as the parts of this kind share them. */
export interface Sftp {
  session: SftpSession;
  files: ReadyFiles;
  options: SftpOptions;
}
