# Which features of a table are associated with a target: a rule to include in a workflow.
#
#   include: "smrmr.smk"
#
# config["smrmr"] holds, by the name of each answer, a table, a target, and more options if needed.
# smrmr must be on the PATH of the jobs.


rule smrmr_select:
    input:
        table=lambda wildcards: config["smrmr"][wildcards.answer]["table"],
    output:
        report="smrmr/{answer}/report.html",
        selected="smrmr/{answer}/selected.csv",
        associated="smrmr/{answer}/associated.csv",
        features="smrmr/{answer}/features.csv",
        json="smrmr/{answer}/selection.json",
    params:
        target=lambda wildcards: config["smrmr"][wildcards.answer]["target"],
        options=lambda wildcards: config["smrmr"][wildcards.answer].get("options", ""),
        folder="smrmr/{answer}",
    log:
        "logs/smrmr_{answer}.log",
    threads: 2
    shell:
        "smrmr select {input.table:q} --target {params.target:q} {params.options}"
        " --jobs {threads} --out {params.folder:q} --overwrite > {log:q} 2>&1"
