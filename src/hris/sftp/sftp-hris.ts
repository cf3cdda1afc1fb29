import type { SftpOptions } from './options.ts';
import type { ReadyFiles } from './ready-files.ts';
import type { SftpSession } from './session.ts';

/** One customer's folders, as shared by the modules of this kind. */
export interface Sftp {
  session: SftpSession;
  files: ReadyFiles;
  options: SftpOptions;
}
