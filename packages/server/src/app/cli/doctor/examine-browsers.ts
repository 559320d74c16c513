import { type Config, publicUrlOf, servedAddressOf } from '#infra/config/index.ts'
import { manualPage } from '../manual-page.ts'
import { ok, type Verdict, warning } from './finding.ts'

// As browsers have it (https://w3c.github.io/webappsec-secure-contexts/, "potentially trustworthy").
const ownMachine = /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[?::1\]?)$/

/** Whether browsers give the web app what they give to https and to their own machine alone. */
export function examineBrowsers(config: Config): Verdict {
  const { baseIdTag, publicUrl, listen, tls, trustedProxies } = config
  const url = publicUrlOf(publicUrl, baseIdTag, servedAddressOf(config).port)
  const { protocol, hostname } = new URL(url)
  if (protocol === 'http:' && !ownMachine.test(hostname)) return plainAt(url, config)
  // Nothing is in front that could end TLS.
  const isOpen = tls.kind === 'off' && trustedProxies.length === 0 && !ownMachine.test(listen.host)
  if (protocol === 'http:' && isOpen) return plainAt(`http://${shown(listen.host)}:${listen.port}`, config)
  return ok(`They give ${url} all that the web app asks for.`)
}

function plainAt(address: string, { listen }: Config): Verdict {
  return warning(
    `${address} is plain http for other machines. Their browsers keep nobody signed in there, and have no passkeys, no notifications and no worker for times without a connection.`,
    `Use https: the server ends TLS with TLS=acme or, in a network of your own, TLS=files (${manualPage('tls.md')}), or a proxy in front does (${manualPage('install.md')}). To try it out run ssh -L ${listen.port}:127.0.0.1:${listen.port} with the name of this machine on the other one, and open the address of the server that ends in localhost there.`,
  )
}

const shown = (host: string) => (host.includes(':') ? `[${host}]` : host)
