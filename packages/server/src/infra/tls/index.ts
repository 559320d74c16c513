export {
  type AcmeAuthorization,
  AcmeClient,
  type AcmeOrder,
  type ChallengeType,
  type RenewalWindow,
} from './acme/acme-client.ts'
export { AcmeError } from './acme/acme-error.ts'
export {
  certificateId,
  certificateRequest,
  challengeCertificate,
  newPrivateKey,
} from './acme/x509.ts'
export { CertificateFiles, readFiles } from './certificate-files.ts'
export type { Certificates, KeyPair } from './certificates.ts'
export { ChainError, type CheckedChain, checkChain, isForName } from './chain.ts'
export { answerChallengeHandshakes } from './challenge-handshakes.ts'
export { ServedCertificates } from './served-certificates.ts'
