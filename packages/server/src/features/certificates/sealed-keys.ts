// What the vault seals the private keys of this room for.
export const accountKeySeal = 'acme account key'
export const certificateKeySeal = 'certificate key'
