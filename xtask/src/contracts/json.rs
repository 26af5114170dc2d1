//! Writes `contracts.json`: the operations as data, for a client in any other language.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::check::{Contract, Operation};
use super::readme::{Field, Readme};

pub(super) fn write(readme: &Readme, contracts: &[Contract]) -> Result<String> {
    let contracts: Map<_, _> = contracts.iter().map(|it| (it.name.clone(), contract(it))).collect();
    let all = json!({
        "contracts": contracts,
        "parameters": fields(&readme.parameters),
        "results": fields(&readme.results),
    });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

fn contract(contract: &Contract) -> Value {
    json!({
        "version": contract.version,
        "schema": contract.schema,
        "operations": contract.operations.iter().map(operation).collect::<Vec<_>>(),
    })
}

fn operation(operation: &Operation) -> Value {
    json!({
        "name": operation.name,
        "returns": operation.returns.name(),
        "read_only": operation.read_only,
        "transaction": if operation.transaction { "immediate" } else { "single statement" },
        "parameters": operation.parameters,
        "columns": operation.columns,
        "statements": operation.statements.iter().map(|statement| &statement.sql).collect::<Vec<_>>(),
        "reference": operation.reference,
    })
}

fn fields(fields: &[Field]) -> Map<String, Value> {
    let field = |it: &Field| json!({ "type": it.kind.name(), "null": it.nullable, "meaning": it.meaning });
    fields.iter().map(|it| (it.name.clone(), field(it))).collect()
}
