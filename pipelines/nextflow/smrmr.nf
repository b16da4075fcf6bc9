// Which features of a table are associated with a target: a process to include in a workflow.
// Not tested: nextflow was not at hand. Groovy parses it, and the options of the command exist.
//
//   include { SMRMR_SELECT } from './smrmr.nf'
//
//   workflow {
//       SMRMR_SELECT(Channel.of(tuple('response', file('response.csv'), 'response', '')))
//       SMRMR_SELECT.out.report.view()
//   }
//
// smrmr must be on the PATH of the tasks, or of the image that `container` names.

process SMRMR_SELECT {
    tag "${name}"
    cpus 2

    input:
    // name of the answer, table, column of the target, and more options, such as '--covar-name age'
    tuple val(name), path(table), val(target), val(options)

    output:
    tuple val(name), path('answer/report.html'), emit: report
    tuple val(name), path('answer/selected.csv'), emit: selected
    tuple val(name), path('answer/associated.csv'), emit: associated
    tuple val(name), path('answer/features.csv'), emit: features
    tuple val(name), path('answer/selection.json'), emit: json

    script:
    """
    smrmr select '${table}' --target '${target}' ${options} --jobs ${task.cpus} --out answer
    """
}
