import { deletePasskey, type PasskeyView, renamePasskey } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { formatAge } from '#lib/format.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { codeOf } from '#ui/explain.ts'
import { useExplain } from '#ui/problem.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { Confirm } from './confirm.tsx'
import { passkeysQuery } from './passkeys-query.ts'
import type { useProof } from './proof.tsx'
import { RenamePasskey } from './rename-passkey.tsx'
import { securityTexts } from './security-texts.ts'

interface PasskeyLineProps {
  readonly passkey: PasskeyView
  readonly run: ReturnType<typeof useProof>['run']
}

/** One passkey, with what can be done with it. */
export function PasskeyLine({ passkey: { keyId, name, createdAt, lastUsedAt }, run }: PasskeyLineProps) {
  const t = useTexts(securityTexts)
  const explain = useExplain()
  const locale = useLocale()
  const [asking, setAsking] = useState<'name' | 'removal'>()
  const told = (iso: string) => formatAge(new Date(iso), new Date(), locale)
  const about = [t.addedAt(told(createdAt)), ...(lastUsedAt ? [t.usedAt(told(lastUsedAt))] : [])]
  const change = async (work: () => Promise<unknown>, said: string) => {
    setAsking(undefined)
    try {
      const outcome = await run(work)
      if (outcome === 'given up') return
      document.getElementById('passkeys')?.focus()
      notify(said)
      await queries.invalidateQueries({ queryKey: passkeysQuery.queryKey })
    } catch (error) {
      notify(codeOf(error) === 'E-STATE' ? t.last : explain(error), { kind: 'failed' })
    }
  }
  const params = { keyId }
  const remove = () => change(() => client.call(deletePasskey, { params }), t.removed)
  const rename = (wanted: string) =>
    change(() => client.call(renamePasskey, { params, body: { name: wanted } }), t.renamed)
  const onClose = () => setAsking(undefined)
  return (
    <li>
      <div>
        <bdi>{name}</bdi>
        <p class="soft">{about.join(', ')}</p>
      </div>
      <div class="row">
        <Button needsServer icon="pencil" aria-label={t.renameOf(name)} onClick={() => setAsking('name')}>
          {t.rename}
        </Button>
        <Button needsServer icon="trash-2" aria-label={t.removeOf(name)} onClick={() => setAsking('removal')}>
          {t.remove}
        </Button>
      </div>
      {asking === 'name' && (
        <RenamePasskey present={name} onName={(wanted) => void rename(wanted)} onClose={onClose} />
      )}
      {asking === 'removal' && (
        <Confirm title={t.removeTitle} step={t.remove} onYes={() => void remove()} onNo={onClose}>
          {t.removeWhy(name)}
        </Confirm>
      )}
    </li>
  )
}
