import { useQuery } from '@tanstack/preact-query'
import { QueryState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { AddPasskey } from './add-passkey.tsx'
import { PasskeyLine } from './passkey-line.tsx'
import { passkeysQuery } from './passkeys-query.ts'
import { useProof } from './proof.tsx'
import styles from './section.module.css'
import { securityTexts } from './security-texts.ts'

/** The passkeys of the account. */
export function Passkeys() {
  const t = useTexts(securityTexts)
  const query = useQuery(passkeysQuery)
  const { data } = query
  const { run, dialog } = useProof()
  return (
    <section class="card stack" aria-labelledby="passkeys">
      <h2 id="passkeys" tabIndex={-1}>
        {t.passkeys}
      </h2>
      <p class="soft">{t.passkeysWhy}</p>
      <QueryState query={query} heights={[56]} />
      {data?.length === 0 && <p>{t.noPasskeys}</p>}
      {data && data.length > 0 && (
        <ul class={styles.lines}>
          {data.map((passkey) => (
            <PasskeyLine key={passkey.keyId} passkey={passkey} run={run} />
          ))}
        </ul>
      )}
      <AddPasskey run={run} />
      {dialog}
    </section>
  )
}
