import { decrypt } from '../../src/hris/sftp/ready-files.ts';

/** Decrypts again and again until it is killed; what it is to decrypt with comes from the environment. */
const { TEST_KEY: decryptWith = '', TEST_PASSPHRASE: decryptPassphrase = '', TEST_FILE = '' } = process.env;
for (;;)
  await decrypt(
    Buffer.from(TEST_FILE, 'base64'),
    { decryptWith, decryptPassphrase, mostBytes: 1_000 },
    AbortSignal.timeout(60_000),
  );
