/**
 * The process that runs stages: it receives documents and returns the result of the stages. It runs apart
 * from the gateway so that a stage can harm this process alone.
 */
import { sealIntrinsics } from '../../seal-intrinsics.js';
import { runMingoStage } from './run-mingo-stage.js';
import { STAGES_ARE_READY, type StageAnswer, type StageQuestion } from './stage-question.js';

// One process serves many callers, one after the other.
sealIntrinsics(globalThis);
process.on('message', (question: StageQuestion) => {
  process.send?.(answer(question));
});
// The gateway has exited.
process.on('disconnect', () => process.exit());
process.send?.(STAGES_ARE_READY);

function answer({ stages, maxLength, documents: texts }: StageQuestion): StageAnswer {
  let documents: object[] = texts.map((text) => JSON.parse(text));
  for (const [index, text] of stages.entries()) {
    const stage = JSON.parse(text);
    // Two fields computed by mingo may share one object. A later stage that changes one field would change
    // the other as well.
    if (index > 0) documents = JSON.parse(JSON.stringify(documents));
    try {
      documents = runMingoStage(stage, documents);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: 'refused', stage: Object.keys(stage)[0] ?? '', reason };
    }
  }
  const made: string[] = [];
  let length = 0;
  for (const document of documents) {
    const text = JSON.stringify(document);
    length += text.length;
    if (length > maxLength) return { kind: 'too much' };
    made.push(text);
  }
  return { kind: 'documents', documents: made };
}
