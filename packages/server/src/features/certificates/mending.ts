import type { CertificateFault } from './certificate.ts'

const dns = 'Point an A or AAAA record of the name at this server, and wait until the DNS has it everywhere.'
const reached =
  'The name must lead to this machine, and the port that the authority asks (80, with tls-alpn-01 443) must be let through to this program.'

/** What most likely helps, by the kind of failure. */
const likely: Readonly<Record<string, string>> = {
  elsewhere: `${dns} LOCAL_ADDRESSES must list the addresses of this server.`,
  dnsUnknown: 'Check that this machine can ask the DNS (DNS_SERVERS).',
  dns,
  connection: reached,
  tls: reached,
  unauthorized: `Another server or a proxy answers for the name. ${reached}`,
  incorrectResponse: `Another server or a proxy answers for the name. ${reached}`,
  accountRefused:
    'The authority does not take what the account of this server asks for. A deactivated account is replaced without your help, at most once an hour.',
  caa: 'A CAA record of the domain forbids this authority: add its name to the record, or remove it.',
  rateLimited: 'The authority limits how much it issues for a domain. It is asked again when it allows it.',
  rejectedIdentifier: 'The authority does not issue certificates for this name.',
  unreachable:
    'The authority does not answer: check ACME_DIRECTORY, the firewall, and for a private one ACME_CA_FILE and ALLOW_PRIVATE_NETWORK.',
  serverInternal: 'The authority has trouble of its own: wait.',
  externalAccountRequired: 'This authority wants accounts that were made on its pages. Choose another one.',
  invalidContact: 'Check ACME_EMAIL.',
  unsupportedContact: 'Check ACME_EMAIL.',
  userActionRequired: 'The authority wants its new terms to be agreed to: see its pages.',
  noChallenge: 'Choose the other ACME_CHALLENGE.',
}

export function likelyMending({ kind }: CertificateFault): string {
  return likely[kind] ?? 'See what the authority says, and its pages.'
}
