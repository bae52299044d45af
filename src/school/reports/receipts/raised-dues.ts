/** The result types of raised dues in GraphQL. */
import * as column from '../engine/columns.js';

@column.rowType('RaisedHead', 'The demands of one fee head in one class.')
class RaisedHead {
  @column.text('The class.') readonly class!: string;
  @column.text('The fee head.') readonly feeHead!: string;
  @column.whole('How many students.') readonly students!: number;
  @column.money('Their demands together, before any concession.') readonly amount!: string;
  @column.money('The concessions that are in force today.') readonly concession!: string;
}

@column.rowType('RaisedDues', 'The demands of a month, made or as they would be made.')
export class RaisedDues {
  @column.text('For `undoChange`, which takes all of it back.') readonly requestId!: string;
  @column.flag('Whether nothing was changed.') readonly dryRun!: boolean;
  @column.month('The month.') readonly month!: string;
  @column.text('The session of the month.') readonly session!: string;
  @column.whole('Students with a new demand.') readonly students!: number;
  @column.whole('New demands.') readonly demands!: number;
  @column.whole('Demands of the fee plan that had been made before; they stay as they are.')
  readonly existing!: number;
  @column.whole('Students on the roll who are not promoted to the session; they get no demand.')
  readonly notPromoted!: number;
  @column.money('The new demands together, before any concession.') readonly amount!: string;
  @column.money('The concessions that are in force today.') readonly concession!: string;
  @column.money('The new demands less the concessions.') readonly payable!: string;
  @column.rows(() => RaisedHead, 'The new demands by class and fee head.')
  readonly heads!: readonly RaisedHead[];
}
