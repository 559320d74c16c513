import { ConfigError, type TlsConfig } from '#infra/config/index.ts'
import { ChainError, checkChain, readFiles } from '#infra/tls/index.ts'

/** Throws a `ConfigError` when what the files hold cannot be served. */
export async function checkTlsFiles(files: TlsConfig & { readonly kind: 'files' }): Promise<void> {
  await tellingOfFiles(async () => {
    const { cert, key } = await readFiles(files)
    checkChain(cert, key)
  })
}

/** Does the work; what is wrong with the chain or the key is told by its variables. */
export async function tellingOfFiles<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    const message = `and TLS_KEY cannot be served: ${error.message}`
    throw new ConfigError([{ variable: 'TLS_CERT', message }])
  }
}
