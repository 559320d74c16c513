import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { ConfigError, type TlsConfig } from '#infra/config/index.ts'
import { ChainError, checkChain, readFiles } from '#infra/tls/index.ts'
import { errorCode } from '#lib/system-error.ts'

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
    const code = errorCode(error.cause)
    const message = `and TLS_KEY cannot be served: ${error.message}${code === undefined ? '' : ` (${code})`}`
    throw new ConfigError([{ variable: 'TLS_CERT', message }])
  }
}

/** The certificate that a private authority's own https is checked with. Throws a `ConfigError`. */
export async function readAuthorityCertificate(caFile: string): Promise<string> {
  const refusal = (why: string) =>
    new ConfigError([{ variable: 'ACME_CA_FILE', message: `${why}: ${caFile}` }])
  const text = await readFile(caFile, 'utf8').catch((error: unknown) => {
    throw refusal(`cannot be read (${errorCode(error)})`)
  })
  try {
    new X509Certificate(text)
    return text
  } catch {
    throw refusal('has no certificate in PEM form')
  }
}
