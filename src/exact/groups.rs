//! The grouped form of the exact aggregates: columns of small sums, and a map for the few groups that need more.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, BooleanArray, Float64Builder};
use arrow::datatypes::Float64Type;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

use super::sum::{ExactSum, to_fixed};

/// One exact sum a group.
#[derive(Debug)]
pub(super) struct ExactGroups {
    mean: bool,
    fixed: Vec<i128>,
    count: Vec<u64>,
    /// What does not fit the two columns above, by group; its own count is not used.
    rare: HashMap<usize, ExactSum>,
}

impl ExactGroups {
    pub(super) fn new(mean: bool) -> Self {
        Self { mean, fixed: Vec::new(), count: Vec::new(), rare: HashMap::new() }
    }

    fn resize(&mut self, groups: usize) {
        self.fixed.resize(groups, 0);
        self.count.resize(groups, 0);
    }

    #[inline]
    fn add(&mut self, group: usize, value: f64) {
        self.count[group] += 1;
        match to_fixed(value).and_then(|step| self.fixed[group].checked_add(step)) {
            Some(sum) => self.fixed[group] = sum,
            None => self.rare.entry(group).or_default().add(value),
        }
    }

    fn take(&mut self, emit_to: EmitTo) -> Vec<ExactSum> {
        let fixed = emit_to.take_needed(&mut self.fixed);
        let count = emit_to.take_needed(&mut self.count);
        let emitted = fixed.len();
        let mut rare = std::mem::take(&mut self.rare);
        if let EmitTo::First(_) = emit_to {
            let kept =
                rare.extract_if(|group, _| *group >= emitted).map(|(group, sum)| (group - emitted, sum)).collect();
            self.rare = kept;
        }
        fixed
            .into_iter()
            .zip(count)
            .enumerate()
            .map(|(group, (fixed, count))| {
                let mut sum = ExactSum { fixed, count, ..ExactSum::default() };
                if let Some(more) = rare.remove(&group) {
                    sum.merge(&ExactSum { count: 0, ..more });
                }
                sum
            })
            .collect()
    }
}

impl GroupsAccumulator for ExactGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.resize(total_num_groups);
        let column = values[0].as_primitive::<Float64Type>();
        if column.null_count() == 0 && opt_filter.is_none() {
            for (group, value) in group_indices.iter().zip(column.values()) {
                self.add(*group, *value);
            }
            return Ok(());
        }
        for (row, (group, value)) in group_indices.iter().zip(column.iter()).enumerate() {
            let kept = opt_filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if let (true, Some(value)) = (kept, value) {
                self.add(*group, value);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let mean = self.mean;
        let sums = self.take(emit_to);
        let mut out = Float64Builder::with_capacity(sums.len());
        for sum in &sums {
            out.append_option(if mean { sum.mean() } else { sum.sum() });
        }
        Ok(Arc::new(out.finish()))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let sums = self.take(emit_to);
        let mut out = BinaryBuilder::with_capacity(sums.len(), sums.len() * 25);
        let mut bytes = Vec::new();
        for sum in &sums {
            bytes.clear();
            sum.write_bytes(&mut bytes);
            out.append_value(&bytes);
        }
        Ok(vec![Arc::new(out.finish())])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.resize(total_num_groups);
        let states = values[0].as_binary::<i32>();
        for (row, group) in group_indices.iter().enumerate() {
            if states.is_null(row) {
                continue;
            }
            let Some(state) = ExactSum::from_bytes(states.value(row)) else {
                return exec_err!("a partial state of an exact aggregate is damaged");
            };
            self.count[*group] += state.count;
            match self.fixed[*group].checked_add(state.fixed) {
                Some(sum) if state.special == 0 && state.wide.is_none() => self.fixed[*group] = sum,
                _ => self.rare.entry(*group).or_default().merge(&state),
            }
        }
        Ok(())
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let column = values[0].as_primitive::<Float64Type>();
        let mut out = BinaryBuilder::with_capacity(column.len(), column.len() * 25);
        let mut bytes = Vec::new();
        for (row, value) in column.iter().enumerate() {
            let mut sum = ExactSum::default();
            let kept = opt_filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if let (true, Some(value)) = (kept, value) {
                sum.add(value);
            }
            bytes.clear();
            sum.write_bytes(&mut bytes);
            out.append_value(&bytes);
        }
        Ok(vec![Arc::new(out.finish())])
    }

    fn size(&self) -> usize {
        self.fixed.capacity() * size_of::<i128>()
            + self.count.capacity() * size_of::<u64>()
            + self.rare.len() * (size_of::<(usize, ExactSum)>() + super::SuperAccumulator::BYTES)
    }
}
